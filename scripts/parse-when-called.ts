import { type Plugin, RolldownMagicString } from 'rolldown';
import { Visitor, parseSync } from 'rolldown/utils';

/** A file of ASCII alone needs no decoding, and half of the memory. What is not ASCII stands in strings. */
const toAscii = (code: string): string =>
  code.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Makes a `function` of every arrow function that no other function surrounds: in a module both have the same `this`. One that only has a name
 * is declared, since bundlers that wrap a module leave declarations outside.
 */
const withoutOuterArrows = (code: string): string => {
  const text = new RolldownMagicString(code);
  const declared = new Map<object, string>();
  let depth = 0;
  const enter = (): void => {
    depth += 1;
  };
  const leave = (): void => {
    depth -= 1;
  };
  const visitor = new Visitor({
    VariableDeclaration: ({ start, end, declarations }) => {
      const [{ id, init } = {}, ...others] = declarations;
      if (depth > 0 || others.length > 0 || id?.type !== 'Identifier' || init?.type !== 'ArrowFunctionExpression')
        return;
      declared.set(init, id.name);
      text.remove(start, init.start);
      if (code[end - 1] === ';') text.remove(end - 1, end);
    },
    ArrowFunctionExpression: (arrow) => {
      const { start, body, async: isAsync, expression: isExpression } = arrow;
      if (depth === 0) {
        const name = declared.get(arrow);
        const params = isAsync ? code.indexOf('(', start) : start;
        text.update(start, params + 1, `${isAsync ? 'async ' : ''}function${name === undefined ? '' : ` ${name}`}(`);
        text.update(code.lastIndexOf('=>', body.start), body.start, isExpression ? '{ return ' : '');
        if (isExpression) text.appendLeft(body.end, '; }');
      }
      enter();
    },
    'ArrowFunctionExpression:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    ClassBody: enter,
    'ClassBody:exit': leave,
  });
  visitor.visit(parseSync('chunk.js', code).program);
  return text.toString();
};

/**
 * Makes files that are imported in less time. V8 reads the whole body of an arrow function where it stands, and that of a `function` when it is
 * first called; most of what is imported is not called at the start.
 */
export const parseWhenCalled = (): Plugin => ({
  name: 'parse-when-called',
  generateBundle: (_options, bundle) => {
    for (const file of Object.values(bundle))
      if (file.type === 'chunk') file.code = toAscii(withoutOuterArrows(file.code));
  },
});
