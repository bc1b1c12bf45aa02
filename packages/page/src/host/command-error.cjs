'use strict';

/** Why a command failed. `code` is one of https://www.w3.org/TR/webdriver2/#errors */
class CommandError extends Error {
  /** @param {string} code @param {string} message @param {string} [pageStack] the stack of an error in the page */
  constructor(code, message, pageStack = '') {
    super(message);
    this.code = code;
    this.pageStack = pageStack;
  }
}

module.exports = { CommandError };
