import { describe, expect, test } from 'vitest'
import { createPacing } from '../../src/account-api/pacing.ts'

/** A bucket with a clock of its own; waiting moves the clock. */
function createBucket(perSecond: number, burst: number) {
  const clock = { ms: 0 }
  const pacing = createPacing({ perSecond, burst }, () => clock.ms)
  const wait = async (ms: number) => {
    clock.ms += ms
    return true
  }
  return { clock, pacing, wait }
}

describe('the pace of calls', () => {
  test('so many at once after a rest, then so many a second', async () => {
    const { clock, pacing, wait } = createBucket(10, 5)
    for (let call = 0; call < 5; call += 1) await pacing.turn(wait)
    expect(clock.ms).toBe(0)

    for (let call = 0; call < 10; call += 1) await pacing.turn(wait)
    expect(clock.ms).toBeCloseTo(1_000, 5)
  })

  test('a rest fills it up again, and no further', async () => {
    const { clock, pacing, wait } = createBucket(10, 5)
    for (let call = 0; call < 5; call += 1) await pacing.turn(wait)
    clock.ms += 60_000
    const before = clock.ms
    for (let call = 0; call < 6; call += 1) await pacing.turn(wait)
    expect(clock.ms - before).toBeCloseTo(100, 5)
  })

  test('while the account API asks to slow down, everything waits until then', async () => {
    const { clock, pacing, wait } = createBucket(10, 5)
    pacing.pause(30_000)
    await pacing.turn(wait)
    expect(clock.ms).toBe(30_000)
  })

  test('who cannot wait so long takes no turn away from others', async () => {
    const { clock, pacing, wait } = createBucket(10, 1)
    await pacing.turn(wait)
    expect(await pacing.turn(async () => false)).toBe(false)
    await pacing.turn(wait)
    expect(clock.ms).toBeCloseTo(100, 5)
  })
})
