import type { Script } from '../../examples/local-model/conversation.ts';
import { type Message, textOf } from '../../src/messages/message.ts';
import type { ChatModel, ModelRequest } from '../../src/models/chat-model.ts';
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts';

/** A model that forgets: what it answers depends on what it is asked alone, in whichever process. */
export const forgetfulModel = (answer: (request: ModelRequest) => ScriptedAnswer, name = 'forgetful'): ChatModel => ({
  name,
  generate: (request, options) => scriptedModel([answer(request)]).generate(request, options),
});

/** The answer for so many replies in the history. */
export const modelByHistory = (answers: readonly ScriptedAnswer[]): ChatModel =>
  forgetfulModel(({ messages }) => {
    const replies = messages.filter(({ role }) => role === 'assistant').length;
    return answers[replies] ?? new Error(`the script has no answer after ${replies} replies`);
  });

const resultsAfter = (messages: readonly Message[], start: number) =>
  messages.slice(start + 1).flatMap((message) =>
    message.role === 'tool'
      ? message.content.map(({ toolName, output }) => {
          const value = 'value' in output ? output.value : '';
          return { tool: toolName, text: typeof value === 'string' ? value : JSON.stringify(value) };
        })
      : [],
  );

/** A script of the examples, asked without a server. */
export const modelOfScript = (script: Script): ChatModel =>
  forgetfulModel(({ messages }) => {
    const start = messages.findLastIndex(({ role }) => role === 'user');
    const question = messages[start];
    const reply = script({
      question: question === undefined ? '' : textOf(question),
      results: resultsAfter(messages, start),
      before: messages
        .slice(0, start)
        .map((message) => textOf(message))
        .join('\n'),
    });
    if (reply === undefined) return new Error('the script does not know the question');
    const { text, calls } = reply;
    return { ...(text === undefined ? {} : { text }), ...(calls === undefined ? {} : { toolCalls: calls }) };
  });

/** Calls the tool in every turn, then answers. */
export const modelOfTurns = (asking: ScriptedAnswer, answer: ScriptedAnswer): ChatModel =>
  forgetfulModel(({ messages }) => (messages.at(-1)?.role === 'tool' ? answer : asking));
