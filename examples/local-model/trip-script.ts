import { type Script, dataOf } from './conversation.ts';

interface Weather {
  location: string;
  condition: string;
  rainChance: number;
}
interface Ticket {
  train: string;
  to: string;
  price: number;
}

/** Two cities at once, then a train that somebody must approve, then the answer. */
export const tripScript: Script = ({ question, results }) => {
  const cities = ['Suzhou', 'Hangzhou'].filter((city) => question.includes(city));
  if (cities.length < 2) return undefined;
  const weather = results.filter(({ tool }) => tool === 'GetWeather');
  if (weather.length < 2) {
    const calls = cities.map((location) => ({ name: 'GetWeather', input: { location } }));
    return { text: 'I look at both cities at once.', calls };
  }
  const seen = weather.flatMap((result) => dataOf<Weather>(result) ?? []);
  const [driest] = seen.toSorted((a, b) => a.rainChance - b.rainChance);
  if (driest === undefined) return { text: 'I could not get the weather, so I have booked nothing.' };
  const summary = seen.map((each) => `${each.location}: ${each.condition}, ${each.rainChance} % rain`).join('; ');
  const booking = results.find(({ tool }) => tool === 'BookTrain');
  if (booking === undefined) {
    return { calls: [{ name: 'BookTrain', input: { from: 'Shanghai', to: driest.location, seats: 1 } }] };
  }
  const ticket = dataOf<Ticket>(booking);
  if (ticket === undefined) return { text: `${summary}. I have booked nothing: ${booking.text}` };
  const { train, to, price } = ticket;
  return { text: `${summary}. Your train ${train} to ${to} is booked for ${price} yuan. Have a dry day!` };
};
