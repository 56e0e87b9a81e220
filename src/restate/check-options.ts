import {
  type Bound,
  type Rules,
  checkGiven,
  checkOne,
  either,
  has,
  isA,
  isList,
  isObject,
} from '../sessions/option-bounds.ts';

const isAddress = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

const address: Bound = { says: 'an address such as "http://127.0.0.1:8080"', holds: isAddress };
const addresses: Bound = {
  says: 'an array of addresses such as "http://127.0.0.1:9081"',
  holds: (value) => Array.isArray(value) && value.every(isAddress),
};
const identityKeys: Bound = {
  says: 'an array of public keys such as "publickeyv1_…"',
  holds: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string' && item.startsWith('publickeyv1_')),
};
/** A secret is in no error message: `checkKey` says what is wrong with it. */
const secret: Bound = { says: 'a secret', holds: () => true };

const rules = {
  restateWorker: {
    agents: either(isObject, isList),
    key: secret,
    recorder: has('a recorder such as createRecorder() gives', 'inspect', 'describe'),
    identityKeys,
  },
  restateSessions: { ingress: address, key: secret, agent: either(isA('string'), isObject), live: addresses },
  followWorkers: { live: addresses, recorder: isObject },
} satisfies Record<string, Rules>;

/** A key that is written wrong would be none, and part no tenants: what nobody knows is refused. Throws `invalid-option`. */
export const checkOptions = (where: keyof typeof rules, given: object): void => {
  checkGiven(given, rules[where], where);
  if (where === 'restateSessions')
    checkOne((given as { ingress?: unknown }).ingress, address, 'restateSessions: option "ingress"');
  if (where === 'followWorkers')
    checkOne((given as { live?: unknown }).live, addresses, 'followWorkers: option "live"');
};
