// `node --import selfprof/agent server.mjs`: see agent.cjs.

import agent from './agent.cjs';

export const { honoRoutes, profileRequest, setLabels, startAgent, withLabels } = agent;
