import { describe, expect, test } from 'vitest'
import { createPacing } from '../../../src/account-api/transport/pacing.ts'

/** Creates a token bucket with a fake clock. Waiting advances the clock. */
function createBucket(perSecond: number, burst: number) {
  const clock = { ms: 0 }
  const pacing = createPacing({ perSecond, burst }, () => clock.ms)
  const wait = async (ms: number) => {
    clock.ms += ms
    return true
  }
  return { clock, pacing, wait }
}

describe('the pacing of calls', () => {
  test('allows a burst at once, and then a fixed number of calls per second', async () => {
    const { clock, pacing, wait } = createBucket(10, 5)
    for (let call = 0; call < 5; call += 1) await pacing.turn(wait)
    expect(clock.ms).toBe(0)

    for (let call = 0; call < 10; call += 1) await pacing.turn(wait)
    expect(clock.ms).toBeCloseTo(1_000, 5)
  })

  test('refills up to the burst during a pause, and no further', async () => {
    const { clock, pacing, wait } = createBucket(10, 5)
    for (let call = 0; call < 5; call += 1) await pacing.turn(wait)
    clock.ms += 60_000
    const before = clock.ms
    for (let call = 0; call < 6; call += 1) await pacing.turn(wait)
    expect(clock.ms - before).toBeCloseTo(100, 5)
  })

  test('delays all calls while it is paused', async () => {
    const { clock, pacing, wait } = createBucket(10, 5)
    pacing.pause(30_000)
    await pacing.turn(wait)
    expect(clock.ms).toBe(30_000)
  })

  test('does not delay others for a caller that stopped waiting', async () => {
    const { clock, pacing, wait } = createBucket(10, 1)
    await pacing.turn(wait)
    expect(await pacing.turn(async () => false)).toBe(false)
    await pacing.turn(wait)
    expect(clock.ms).toBeCloseTo(100, 5)
  })
})
