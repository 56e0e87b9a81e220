export {
  type Engine as RestateServer,
  engineMissing as restateMissing,
  startEngine as startRestate,
} from '../../examples/distributed/start-engine.ts';
