const maxLength = 64;
const hashLength = 8;

/** FNV-1a: tells long names apart, and is the same in every process. */
const hashOf = (text: string): string => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(hashLength, '0');
};

/**
 * The name by which models call a server's tool. Providers take 1 to 64 of a-z, A-Z, 0-9, _ and -, MCP takes more: every other
 * character becomes `_`, and a name that is too long keeps its beginning and gets a hash of the whole. The same in every process,
 * so a stored session finds its tools again.
 */
export const toolNameOf = (serverName: string, prefix: string): string => {
  const name = `${prefix}${serverName.replaceAll(/[^a-zA-Z0-9_-]/gu, '_')}`;
  if (name.length <= maxLength) return name;
  return `${name.slice(0, maxLength - hashLength - 1)}_${hashOf(serverName)}`;
};
