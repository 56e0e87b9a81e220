import { expect, test } from 'vitest';
import { escapeJson, escapeText } from '../../examples/terminal/escape-text.ts';

test('what a terminal obeys is escaped, line breaks and letters stay', () => {
  expect(escapeText('é 苏州\n\u001b[2J\r\u009b\u007f\u202e')).toBe('é 苏州\n\\u001b[2J\\u000d\\u009b\\u007f\\u202e');
});

test('escaped data is still the same data', () => {
  const data = { text: 'a\n\u001b\u007f\u009b\u202e' };
  expect(JSON.parse(escapeJson(data))).toEqual(data);
  expect(escapeJson(data)).toBe('{"text":"a\\n\\u001b\\u007f\\u009b\\u202e"}');
});
