import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Transfer {
  /** The same for every try of one transfer, in every process. */
  key: string;
  to: string;
  amount: number;
}

export interface Receipt {
  to: string;
  amount: number;
  /** What is left. */
  balance: number;
}

/** An account in a JSON file. A transfer with a key that it has seen is the same transfer: the money moves once. */
export const openLedger = (file: string) => {
  const opening = 20_000;
  const read = (): Transfer[] => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []);
  const write = (transfers: Transfer[]): void => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(transfers, undefined, 2));
  };
  const balance = (): number => read().reduce((left, { amount }) => left - amount, opening);
  const receipt = ({ to, amount }: Transfer): Receipt => ({ to, amount, balance: balance() });
  return {
    balance,
    transfer: (given: Transfer): Receipt => {
      const transfers = read();
      const known = transfers.find(({ key }) => key === given.key);
      if (known !== undefined) return receipt(known);
      if (given.amount > balance()) throw new Error('the balance is too low');
      write([...transfers, given]);
      return receipt(given);
    },
  };
};
