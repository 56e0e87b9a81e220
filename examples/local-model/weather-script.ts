import { type Script, dataOf } from './conversation.ts';

interface Weather {
  location: string;
  condition: string;
  celsius: number;
}

/** Asks for the weather once, then answers from the result. */
export const weatherScript: Script = ({ question, results }) => {
  if (!question.includes('wear')) return undefined;
  const [result] = results;
  if (result === undefined) return { calls: [{ name: 'GetWeather', input: { location: 'Suzhou' } }] };
  const weather = dataOf<Weather>(result);
  if (weather === undefined) return { text: `I could not look at the weather: ${result.text}` };
  const { location, condition, celsius } = weather;
  const coat = celsius < 18 ? 'a thin coat over long sleeves' : 'a shirt with long sleeves';
  return {
    text: `${location} has ${condition} now, at ${celsius} °C. Wear ${coat} and shoes that water does not get into, and take an umbrella.`,
  };
};
