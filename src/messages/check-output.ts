import { base64Of } from './check-file.ts';
import { fieldsOf, jsonOf, oneOf, optionalText, refuse, stringOf } from './check-json.ts';
import type { ContentPart, ToolOutput } from './message.ts';

const outputTypes = ['text', 'json', 'error-text', 'error-json', 'execution-denied', 'content'];
const contentTypes = ['text', 'file-data', 'image-data', 'file'];

const contentPartOf = (value: unknown, path: string): ContentPart => {
  const fields = fieldsOf(value, path);
  const { type } = fields;
  if (type === 'text') return { type, text: stringOf(fields.text, `${path}.text`) };
  if (type !== 'file-data' && type !== 'image-data' && type !== 'file')
    return refuse(`${path}.type`, type, oneOf(contentTypes));

  const mediaType = stringOf(fields.mediaType, `${path}.mediaType`);
  if (type === 'image-data') return { type, data: base64Of(fields.data, `${path}.data`), mediaType };
  const filename = optionalText(fields, 'filename', path);
  if (type === 'file-data') return { type, data: base64Of(fields.data, `${path}.data`), mediaType, ...filename };

  // The AI SDK's newer form, with tagged data.
  const tagged = fieldsOf(fields.data, `${path}.data`);
  if (tagged.type === 'text') return { type: 'text', text: stringOf(tagged.text, `${path}.data.text`) };
  if (tagged.type !== 'data') return refuse(`${path}.data.type`, tagged.type, oneOf(['data', 'text']));
  return { type: 'file-data', data: base64Of(tagged.data, `${path}.data.data`), mediaType, ...filename };
};

/** The output of a tool result in our form. */
export const toolOutputOf = (value: unknown, path: string): ToolOutput => {
  const fields = fieldsOf(value, path, '{ type: "text", value: … } and the like');
  const { type } = fields;
  switch (type) {
    case 'text':
    case 'error-text':
      return { type, value: stringOf(fields.value, `${path}.value`) };
    case 'json':
    case 'error-json':
      return { type, value: jsonOf(fields.value, `${path}.value`) };
    case 'execution-denied':
      return { type, ...optionalText(fields, 'reason', path) };
    case 'content':
      if (!Array.isArray(fields.value)) return refuse(`${path}.value`, fields.value, 'an array of content parts');
      return { type, value: fields.value.map((part, index) => contentPartOf(part, `${path}.value[${index}]`)) };
    default:
      return refuse(`${path}.type`, type, oneOf(outputTypes));
  }
};
