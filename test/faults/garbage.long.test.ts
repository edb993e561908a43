import { expect, test } from 'vitest'
import { throwGarbage } from './throw-garbage.ts'

const seed = Number(process.env.GARBAGE_SEED ?? Math.floor(Math.random() * 2 ** 31))
const batches = 40
const atOnce = 250

test(`${batches * atOnce} garbage requests crash nothing, write nothing and mention nobody (GARBAGE_SEED=${seed})`, async () => {
  const { statuses, garbledAnswers, ...rest } = await throwGarbage({ batches, atOnce, seed })
  console.log(JSON.stringify({ GARBAGE_SEED: seed, statuses, garbledAnswers, ...rest }))

  // Most requests reach the bot's own code.
  expect(statuses[200]).toBeGreaterThan((batches * atOnce) / 2)
  expect(garbledAnswers).toBeGreaterThan(batches)
}, 600_000)
