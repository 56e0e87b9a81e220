import { AbstractChat, type ChatInit, type ChatState, type UIMessage } from 'ai';

/** The state of a page, without a page: what `useChat` keeps in React's. */
class PageState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready';
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.map((each, at) => (at === index ? message : each));
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

/** What stands behind `useChat`: the AI SDK's own client, with its own transport. */
export class ChatPage extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    super({ ...init, state: new PageState() });
  }

  /** The tool parts of the last message: `[tool, state, input, output or error]`. */
  tools(): unknown[] {
    return (this.lastMessage?.parts ?? []).flatMap((part) =>
      'toolCallId' in part ? [[part.type.slice(5), part.state, part.input, part.output ?? part.errorText]] : [],
    );
  }

  text(): string {
    return (this.lastMessage?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
  }
}
