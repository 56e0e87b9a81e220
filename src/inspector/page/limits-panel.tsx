/** @jsxImportSource preact */
import { agentsOf } from '../actor-tree.ts';
import { type Gauge, gaugesOf, usageOf } from '../gauges.ts';
import { useNow, useStore } from './use-store.ts';
import { count, duration } from './words.ts';

const shown = (value: number, unit: Gauge['unit']): string => (unit === 'ms' ? duration(value) : count(value));

const GaugeRow = ({ gauge: { name, value, max, unit } }: { gauge: Gauge }) => {
  const part = max === undefined || max === 0 ? 0 : Math.min(1, value / max);
  const tone = max !== undefined && value > max ? 'bad' : part >= 0.8 ? 'wait' : 'busy';
  const words = max === undefined ? shown(value, unit) : `${shown(value, unit)} of ${shown(max, unit)}`;
  return (
    <div class="gauge">
      <span class="gauge-name">{name}</span>
      <span class="gauge-value">
        {shown(value, unit)}
        {max === undefined ? null : <span class="gauge-max"> / {shown(max, unit)}</span>}
      </span>
      {max === undefined ? null : (
        <span
          class="gauge-track"
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={max}
          aria-valuenow={value}
          aria-valuetext={words}
        >
          <span class={`gauge-fill ${tone}`} style={{ width: `${part * 100}%` }} />
        </span>
      )}
    </div>
  );
};

export const LimitsPanel = () => {
  const store = useStore();
  const { session, view } = store;
  const agent = session === undefined ? undefined : agentsOf(session)[0];
  const isBusy = agent?.endedAt === undefined && store.isRunning;
  const now = useNow(isBusy && agent !== undefined, 500);
  if (agent === undefined) return null;
  const usage = usageOf(agent);
  const facts: [string, number | undefined][] = [
    ['Model calls', usage.calls],
    ['Tokens in', usage.input],
    ['of them cached', usage.cached],
    ['Tokens out', usage.output],
    ['of them reasoning', usage.reasoning],
  ];
  return (
    <section class="panel limits" aria-label="Limits and usage">
      <h2>This turn</h2>
      {gaugesOf(view, agent, isBusy ? now : view.at).map((gauge) => (
        <GaugeRow key={gauge.name} gauge={gauge} />
      ))}
      <h2>Session</h2>
      <dl class="facts">
        {facts.flatMap(([name, value]) =>
          value === undefined
            ? []
            : [
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{count(value)}</dd>
                </div>,
              ],
        )}
      </dl>
    </section>
  );
};
