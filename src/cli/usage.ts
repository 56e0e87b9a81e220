export const usage = `agentchart: agents whose sessions are kept

  agentchart sessions [--status waiting] [--agent name] [--limit n] [--offset n]
  agentchart show <session> [--at revision]
  agentchart history <session> [--after revision]
  agentchart approve <session> [<call>] [--input JSON] [--remember tool|input] [--by name]
  agentchart reject <session> [<call>] [--reason text] [--remember tool|input] [--by name]
  agentchart respond <session> <call> --output JSON [--by name]
  agentchart run <module> [<message>] [--session id]
  agentchart inspect [<recording | SQLite file | postgres://…>] [--port n] [--print]
  agentchart export <session> [--at revision]
  agentchart import <file | -> [--as id]
  agentchart delete <session> | --older-than 30d

Everywhere: --store <SQLite file or postgres://…> (or AGENTCHART_STORE), --json, --help.
A decision is left in the store: the process that has the session takes it up, or the next one that opens it. What became of it is told
where that happens within a moment; a decision that is refused is exit status 1, and \`show\` lists it.
<module> exports an agent as default, or a function ({ store }) => agent; only the function's agent keeps its sessions in --store.
With --json an error is { error: { name, message, code? } } on one line of stderr.
Exit status: 0 done or answered, 1 failed, 2 wrong usage, 3 the turn waits for somebody.
`;
