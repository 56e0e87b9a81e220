const plainKey = /^[\p{ID_Start}_$][\p{ID_Continue}$-]*$/u;

/** `'a'` and `'b'` → `'a.b'`; `'a'` and `0` → `'a[0]'`; a key that is no name → `'a["x y"]'`. */
export const appendKey = (path: string, key: PropertyKey): string => {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (typeof key === 'symbol') return `${path}[${String(key)}]`;
  if (!plainKey.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
};

export const pathText = (keys: readonly PropertyKey[]): string => keys.reduce<string>(appendKey, '');
