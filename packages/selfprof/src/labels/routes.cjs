'use strict';

// The routes of web frameworks, as `http.route` of what handles a request.

const diagnosticsChannel = require('node:diagnostics_channel');

const { onPackages } = require('./modules.cjs');
const { isLabelling, setRoute } = require('./storage.cjs');

/** The methods that have been replaced, so that each is replaced once. */
const replaced = new WeakSet();

/**
 * Replaces a method, once.
 *
 * @param {any} object
 * @param {string} name
 * @param {(original: Function) => Function} replacement
 */
function replace(object, name, replacement) {
  const original = object?.[name];
  if (typeof original !== 'function' || replaced.has(original)) return;
  const method = replacement(original);
  Object.defineProperty(method, 'name', { value: original.name });
  Object.defineProperty(method, 'length', { value: original.length });
  replaced.add(method);
  object[name] = method;
}

/** Express: a route dispatches the requests that match it. @param {any} express */
function followExpress(express) {
  replace(
    express.Route?.prototype,
    'dispatch',
    (dispatch) =>
      /** @this {any} */ function (/** @type {any} */ request, /** @type {any[]} */ ...rest) {
        if (isLabelling()) setRoute(`${request?.baseUrl ?? ''}${pathOf(this.path)}`);
        return Reflect.apply(dispatch, this, [request, ...rest]);
      },
  );
}

/** A route's path in Express may also be a regular expression, or a list. @param {unknown} path */
function pathOf(path) {
  return typeof path === 'string' ? path : Array.isArray(path) ? path.map(String).join('|') : String(path);
}

/**
 * Whether a path is of a route, and not only of a router's middleware, which @koa/router calls a matched route as well.
 *
 * @param {any} matched the routes and middleware that match a request
 * @param {unknown} path
 */
function isRoute(matched, path) {
  if (!Array.isArray(matched)) return true;
  const layers = matched.filter((layer) => layer?.path === path);
  return layers.length === 0 || layers.some(({ methods }) => !Array.isArray(methods) || methods.length > 0);
}

/** The applications of Koa whose contexts tell their route. */
const koaContexts = new WeakSet();

/** Koa has no routes; its routers say in `_matchedRoute` which one they found. @param {any} Koa */
function followKoa(Koa) {
  replace(
    Koa.prototype,
    'createContext',
    (createContext) =>
      /** @this {any} */ function (/** @type {any[]} */ ...args) {
        const { context } = this;
        if (isLabelling() && context !== undefined && !koaContexts.has(context)) {
          koaContexts.add(context);
          const routes = new WeakMap();
          Object.defineProperty(context, '_matchedRoute', {
            configurable: true,
            get() {
              return routes.get(this);
            },
            set(route) {
              routes.set(this, route);
              if (route !== undefined && isRoute(this.matched, route)) setRoute(pathOf(route));
            },
          });
        }
        return Reflect.apply(createContext, this, args);
      },
  );
}

/** Fastify says that an instance was made. Its routes are known when the first hook runs. @param {unknown} message */
function followFastify(message) {
  const { fastify } = /** @type {{ fastify: any }} */ (message);
  fastify.addHook(
    'onRequest',
    (/** @type {any} */ request, /** @type {unknown} */ _, /** @type {() => void} */ done) => {
      const route = request.routeOptions?.url;
      if (typeof route === 'string') setRoute(route);
      done();
    },
  );
}

/**
 * Middleware for Hono: `app.use(honoRoutes)`. Hono has no hook that could be found from outside.
 *
 * @param {unknown} context
 * @param {() => Promise<void>} next
 */
function honoRoutes(context, next) {
  /** @type {{ method: string, path: string }[]} */
  const matched = /** @type {any} */ (context).req.matchedRoutes ?? [];
  // Hono lists middleware, too, for all methods. The first route answers, unless it calls `next`.
  const route = matched.find(({ method }) => method !== 'ALL') ?? matched.findLast(({ path }) => !path.endsWith('*'));
  if (route !== undefined) setRoute(route.path);
  return next();
}

/** Routes become labels from now on. */
function followRoutes() {
  diagnosticsChannel.subscribe('fastify.initialization', followFastify);
  onPackages({ express: followExpress, koa: followKoa });
}

module.exports = { followRoutes, honoRoutes };
