import { expect, test } from 'vitest'
import { throwGarbage } from './throw-garbage.ts'

const seed = Number(process.env.GARBAGE_SEED ?? Math.floor(Math.random() * 2 ** 31))

test(`300 garbage requests crash nothing, write nothing and mention nobody (GARBAGE_SEED=${seed})`, async () => {
  const { statuses, garbledAnswers } = await throwGarbage({ batches: 6, atOnce: 50, seed })

  // Most requests reach the bot's own code.
  expect(statuses[200]).toBeGreaterThan(150)
  expect(garbledAnswers).toBeGreaterThan(10)
})
