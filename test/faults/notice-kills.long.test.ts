import { setTimeout as delay } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { ops } from '../journeys/world.ts'
import { startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

describe('a bot that is killed while it notifies the operators of an unsafe Redis', () => {
  test.for([
    { when: 'before', what: 'Slack has the notice' },
    { when: 'after', what: 'Slack has the notice, and before the bot learns of it' },
  ] as const)(
    '$when $what leaves it to the next one, and the operators get it once',
    { concurrent: true },
    async ({ when }, { expect, onTestFinished }) => {
      const { slack, bots, admin, evidence } = await startScene({ env: { OPS_CHANNEL: ops }, onEnd: onTestFinished })
      const notices = (fits: RegExp) => slack.messages(ops).filter(({ text }) => fits.test(text))
      const died = Promise.withResolvers<void>()
      let isAlive = true
      slack.faults.add({
        method: 'chat.postMessage',
        kind: `drop-${when}`,
        when: ({ channel, text }) => {
          if (!isAlive || channel !== ops || !/could lose requests/.test(String(text))) return false
          isAlive = false
          void bots.kill(0).then(died.resolve)
          return true
        },
      })

      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru')
      await died.promise
      const atDeath = when === 'before' ? 0 : 1
      await untilTrue('Slack has the notice or not', () => notices(/could lose requests/).length === atDeath)
      // A process does not start over an unsafe Redis.
      await admin.config('SET', 'maxmemory-policy', 'noeviction')
      await bots.start(0)
      await slack.until(() => notices(/keeps requests safe again/)[0], { what: 'the end', timeoutMs: 90_000 })
      await untilTrue('no notice is owed', async () => (await admin.zcard(evidence.keys.outbox)) === 0)
      // Longer than a notice that died may wait.
      await delay(25_000)

      const posted = notices(/Redis could lose|keeps requests safe/).map(({ text }) => /could lose|safe again/.exec(text)?.[0])
      expect(posted).toEqual(['could lose', 'safe again'])
    },
  )
})
