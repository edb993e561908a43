import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Canary, startCanary } from './canary.ts'
import { people, untilReport } from './world.ts'

let canary: Canary
let { slack, accountApi, bots, kill, createKey, keyNamed } = {} as Canary

beforeAll(async () => {
  canary = await startCanary()
  ;({ slack, accountApi, bots, kill, createKey, keyNamed } = canary)
})
afterAll(() => canary?.end())

const isShown = (name: string) => slack.ephemerals(people.ada).some(({ text }) => text.includes(`Your new API key ${name}`))

/** Each lets what follows take long, and returns whether the moment has come. */
const moments: Record<string, (name: string) => () => boolean> = {
  'before it has the answer': (name) => {
    accountApi.faults.add({ method: 'POST', path: /api_keys/, kind: 'delay', delayMs: 5_000, times: 1 })
    return () => keyNamed(name) !== undefined
  },
  'while it shows the token': () => {
    const when = (args: object) => JSON.stringify(args).includes('Your new API key')
    const fault = slack.faults.add({ method: 'response_url', kind: 'delay', delayMs: 5_000, times: 1, when })
    return () => fault.fired === 1
  },
  'after the token was shown, before it is noted': (name) => {
    const stop = slack.subscribe(() => {
      if (!isShown(name)) return
      stop()
      bots.signal(0, 'SIGKILL')
    })
    return () => isShown(name)
  },
}

test.each(Object.entries(moments))('a bot that is killed %s leaves no key that may not have been seen', async (moment, arrange) => {
  const name = `killed-${Object.keys(moments).indexOf(moment)}`
  const card = await createKey(name)
  const hasCome = arrange(name)
  const click = slack.as(people.ada).click(card, 'Create key')
  await expect.poll(hasCome).toBe(true)

  await kill()
  await click
  await bots.start(0)

  await untilReport(slack, card.ts, /Failed/)
  expect(keyNamed(name)).toBeUndefined()
})

test('a key that Slack cannot show, and those whose creation gets no usable answer', async () => {
  await canary.hideKey('status')
  for (const kind of ['drop-after', 'html', 'truncate'] as const) await canary.loseKey(kind)
})

test('afterwards no token is anywhere except in what its requester was shown', async () => {
  await canary.expectNoLeak({ tokens: 7, shown: 1 })
})
