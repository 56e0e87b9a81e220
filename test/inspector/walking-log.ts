import { type EventLog, type EventLogOptions, createEventLog } from '../../src/inspector/event-log.ts';

export const walkingStates = ['a', 'b', 'c', 'd'].map((key) => `m.${key}`);

/** Steps of a machine that goes round, each with a change of its context: two events a step. */
export const appendSteps = (log: EventLog, count: number): void => {
  for (let index = 0; index < count; index += 1) {
    const states = [walkingStates[(log.last >> 1) % 4] ?? ''];
    log.append({ type: 'step', session: 's', actor: 'r', event: 'go', states, edges: [] });
    log.append({
      type: 'snapshot',
      session: 's',
      actor: 'r',
      status: 'active',
      patch: { o: { count: { v: log.last } } },
    });
  }
};

/** A log of so many steps. */
export const walkingLog = (steps: number, options: EventLogOptions = {}): EventLog => {
  const log = createEventLog(options);
  const nodes = ['m', ...walkingStates].map((id) => ({
    id,
    key: id.slice(-1),
    type: id === 'm' ? ('compound' as const) : ('atomic' as const),
    parent: id === 'm' ? null : 'm',
    initial: id === 'm' ? 'm.a' : null,
    invokes: [],
    tags: [],
    description: null,
  }));
  log.append({ type: 'chart', key: 'm', chart: { id: 'm', nodes, edges: [] } });
  log.append({ type: 'session', session: 's', root: 'r' });
  log.append({
    type: 'actor',
    session: 's',
    actor: 'r',
    parent: null,
    id: 'm',
    src: 'm',
    chart: 'm',
    states: ['m.a'],
    context: { count: 0 },
  });
  appendSteps(log, steps);
  return log;
};
