import { errorData } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';
import { truncateText } from './truncate-text.ts';

const maxMessageChars = 2_000;

const stackLine = /^\s+at .+$/gm;
const quotedPath = /(["'`])(?:~?\/|\\\\|[A-Za-z]:[\\/]|file:)[^"'`\n]*\1/g;
const fileUrl = /file:\/\/[^\s"'`)]+/g;
const windowsPath = /(?<!\w)(?:[A-Za-z]:[\\/]|\\\\)(?:[^\\/:*?"'<>|\n]+[\\/])*[^\s\\/:*?"'<>|)]*/g;
const posixPath = /(?<![\w:/.<~)\]}])~?\/[^\s"'`:;,()<>/]+(?:\/[^\s"'`:;,()<>/]*)*/g;

const rawMessage = (thrown: unknown): string => {
  if (thrown === undefined || thrown === null) return '';
  if (isPlainObject(thrown) && typeof thrown['message'] === 'string') return thrown['message'];
  return errorData(thrown).message;
};

/**
 * The message of anything that was thrown, fit for a model (R16): lines of a stack are dropped, and what looks like an absolute
 * file path (`/a/b`, `~/a`, `C:\a`, `\\host\a`, `file:`) becomes `<path>`; an `https:` URL stays, the path of a request (`GET /users`)
 * does not. At most 2,000 characters; `''` where there is nothing to say. Never throws.
 */
export const safeMessage = (thrown: unknown): string => {
  let message: string;
  try {
    message = rawMessage(thrown);
  } catch {
    message = 'unprintable error';
  }
  // First cut: the patterns run over a text of bounded length.
  return truncateText(message, maxMessageChars)
    .replace(stackLine, '')
    .replace(quotedPath, '$1<path>$1')
    .replace(fileUrl, '<path>')
    .replace(windowsPath, '<path>')
    .replace(posixPath, '<path>')
    .trim();
};
