import { type Script, dataOf } from './conversation.ts';

interface Weather {
  location: string;
  condition: string;
  celsius: number;
}

/** Asks for the weather once, then answers from the result. */
export const weatherScript: Script = ({ question, results }) => {
  if (!question.includes('穿衣')) return undefined;
  const [result] = results;
  if (result === undefined) return { calls: [{ name: 'GetWeather', input: { location: '苏州' } }] };
  const weather = dataOf<Weather>(result);
  if (weather === undefined) return { text: `没能查到天气：${result.text}` };
  const { location, condition, celsius } = weather;
  const coat = celsius < 18 ? '一件薄外套，里面穿长袖' : '一件长袖衬衫';
  return { text: `${location}现在${condition}，气温 ${celsius} °C。建议穿${coat}，出门带一把伞，鞋子选防水的。` };
};
