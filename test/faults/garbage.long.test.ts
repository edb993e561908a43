import { expect, test } from 'vitest'
import { throwGarbage } from './throw-garbage.ts'

const seed = Number(process.env.GARBAGE_SEED ?? Math.floor(Math.random() * 2 ** 31))

test(`10,000 garbage requests crash nothing, write nothing and mention nobody (GARBAGE_SEED=${seed})`, async () => {
  const { statuses, garbledAnswers, ...rest } = await throwGarbage({ batches: 40, atOnce: 250, seed })
  console.log(JSON.stringify({ GARBAGE_SEED: seed, statuses, garbledAnswers, ...rest }))

  expect(statuses[200]).toBeGreaterThan(5_000)
  expect(garbledAnswers).toBeGreaterThan(200)
}, 600_000)
