import { element } from './dom.ts';

/** Shows a modal dialog with a Close button. It is removed from the document when it closes. */
export function openDialog(title: string, ...content: HTMLElement[]): void {
  const close = element('form', { method: 'dialog' }, element('button', { class: 'button' }, 'Close'));
  const dialog = element(
    'dialog',
    { 'aria-labelledby': 'dialog-title' },
    element('h2', { id: 'dialog-title' }, title),
    ...content,
    close,
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
