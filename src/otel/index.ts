export { type TelemetryOptions, withTelemetry } from './with-telemetry.ts';
