/** What keys and tokens look like wherever they stand, as the sources of regular expressions: few other words look so. */
export const secretShapes: readonly string[] = [
  // OpenAI, Anthropic and many that do as they do; Stripe; Hugging Face, Groq and npm; xAI.
  String.raw`\bsk-[\w-]{16,}`,
  String.raw`\b[spr]k_(?:live|test)_\w{10,}`,
  String.raw`\b(?:hf|gsk|npm)_\w{20,}`,
  String.raw`\bxai-\w{20,}`,
  // GitHub, GitLab, Slack.
  String.raw`\b(?:gh[pousr]_|github_pat_)\w{20,}`,
  String.raw`\bglpat-[\w-]{20,}`,
  String.raw`\b(?:xox[abeoprs]|xapp)-[\w-]{10,}`,
  // AWS, Google.
  String.raw`\b(?:AKIA|ASIA)[A-Z\d]{16}\b`,
  String.raw`\bAIza[\w-]{35}`,
  String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
];
