export const noReply = (name: string): TypeError =>
  new TypeError(`the model "${name}" gave no reply with an assistant message in it`);
