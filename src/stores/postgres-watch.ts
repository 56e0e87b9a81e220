import { Client } from 'pg';
import type { PostgresConnection } from './postgres-connection.ts';
import { Watchers } from './watchers.ts';

export const channel = 'agentchart_commands';

const shortestPause = 250;
const longestPause = 5_000;

const waiting = `select distinct s.id from agentchart.commands c join agentchart.sessions s on s.key = c.session
  where s.id = any($1::text[]) and c.refused is null`;

/** Hears of commands on a connection of its own, which is opened for the first watcher and again whenever it breaks. It holds no process. */
export class PostgresWatch {
  readonly #connection: PostgresConnection;
  readonly #watchers = new Watchers();
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = shortestPause;
  #isClosed = false;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  add(sessionId: string, notify: () => void): () => void {
    // Sessions may live on: nothing is opened for them again.
    if (this.#isClosed) return () => undefined;
    const end = this.#watchers.add(sessionId, notify);
    if (this.#client === undefined && this.#timer === undefined) this.#connect();
    return () => {
      end();
      if (this.#watchers.size === 0) this.#stop();
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#watchers.clear();
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const client = this.#client;
    this.#client = undefined;
    // Nobody waits for its goodbye, and a broken one has none.
    client?.end().catch(() => undefined);
  }

  #connect(): void {
    this.#timer = undefined;
    // Made as the pool makes its own.
    const client = new Client({ ...clientOptions(this.#connection), keepAlive: true });
    this.#client = client;
    const broken = (): void => this.#connectLater(client);
    client.on('error', broken).on('end', broken);
    client.on('notification', ({ payload = '' }) => this.#watchers.tell(payload));
    this.#listen(client).catch(broken);
  }

  async #listen(client: Client): Promise<void> {
    await this.#connection.ready();
    if (client !== this.#client) return;
    await client.connect();
    unref(client);
    await client.query(`listen ${channel}`);
    this.#pause = shortestPause;
    // What was posted before anybody listened.
    const { rows } = await client.query<{ id: string }>(waiting, [this.#watchers.sessions()]);
    for (const { id } of rows) this.#watchers.tell(id);
  }

  #connectLater(client: Client): void {
    if (client !== this.#client) return;
    this.#stop();
    this.#timer = setTimeout(() => this.#connect(), this.#pause).unref();
    this.#pause = Math.min(this.#pause * 2, longestPause);
  }
}

const clientOptions = ({ pool }: PostgresConnection): ConstructorParameters<typeof Client>[0] & object => ({
  ...pool.options,
  // Hidden from those who print the options, and so from `...`.
  ...(pool.options.password === undefined ? {} : { password: pool.options.password }),
});

/** The types of `pg` leave it out. */
const unref = (client: Client & { unref?: () => void }): void => client.unref?.();
