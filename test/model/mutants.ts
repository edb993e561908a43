import { setTimeout as pause } from 'node:timers/promises'
import { WebClient } from '@slack/web-api'
import { createAccountApi } from '../../src/account/client.ts'
import { readPolicy } from '../../src/config/policy-file.ts'
import { noteRequest } from '../../src/domain/lane.ts'
import { Secret } from '../../src/domain/signing.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { renameChange } from '../../src/features/vm-rename.ts'
import { belongsTo, cardButtons, readButton } from '../../src/messages/button-ids.ts'
import { counted } from '../../src/messages/why-not.ts'
import { subjectWords } from '../../src/messages/request-words.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import type { Store } from '../../src/record/store.ts'
import { notice } from '../../src/slack/blocks.ts'
import { createDirectory } from '../../src/slack/people.ts'
import type { Bot } from '../../src/start/bot.ts'
import { fakeApp } from '../fake-app.ts'
import { judging, type People } from '../given/access.ts'
import { decideWith } from '../given/decide-with.ts'
import { openRecords } from '../journeys/records.ts'
import type { World } from '../journeys/world.ts'
import { type Command, change, press, requestChange } from './commands.ts'
import { arrive } from './happenings.ts'
import type { Mutate } from './session.ts'
import { ids, type Name, policy } from './staff.ts'

/** The real bot, put together in the same way as the mutants. */
export const unharmed: Mutate = replaceApprove()

interface Mutant {
  mutate: Mutate
  commands: Command[]
}

const plain = { prefer: 'waiting', settled: true, timePasses: false, submits: true } as const
const approve = (...people: Name[]) =>
  press(
    0,
    people.map((person, replica) => ({ person, button: 'approve', replica })),
    plain,
  )

/** Bots with one defect each, to show that the model notices it. */
export const mutants: Record<string, Mutant> = {
  'a bot that lets anybody approve': {
    mutate: replaceApprove((people) => ({
      ...people,
      members: async (groups) => new Map(groups.map((id) => [id, new Set(Object.values(ids))])),
    })),
    commands: [requestChange('ip.move', 0, ['ada']), approve('jana')],
  },
  'a bot that overwrites what was approved at the same moment': {
    mutate: replaceApprove(undefined, overwriting),
    commands: Array.from({ length: 10 }, (_, number) => [
      requestChange('ip.move', number, ['ada']),
      approve('ben', 'chiara', 'finn'),
      arrive(0),
    ]).flat(),
  },
  'a bot that counts who was an approver once': {
    mutate: replaceApprove(neverForgetting),
    commands: [requestChange('ip.move', 0, ['ada']), approve('chiara'), change('oncall', 'chiara'), approve('ben'), approve('finn')],
  },
}

function neverForgetting(people: People): People {
  const known = new Map<string, Set<string>>()
  return {
    ...people,
    async members(groupIds, purpose) {
      for (const [id, found] of await people.members(groupIds, purpose))
        known.set(id, new Set([...(known.get(id) ?? []), ...(found === 'unknown' ? [] : found)]))
      return new Map(groupIds.map((id) => [id, known.get(id) ?? 'unknown']))
    },
  }
}

/** How many have read a revision of a request and want to write, over all replicas. */
const readers = new Map<string, number>()

/**
 * Takes steps as if the record had not changed since it was read. Each waits until somebody else has read the same record, so that it is
 * certainly overwritten.
 */
function overwriting(store: Store): Store {
  return {
    ...store,
    take: async (request, name, data, token) => {
      const seen = `${request.id} ${request.revision}`
      readers.set(seen, (readers.get(seen) ?? 0) + 1)
      for (let waitedMs = 0; waitedMs < 2_000 && (readers.get(seen) ?? 0) < 2; waitedMs += 10) await pause(10)
      return store.take((await store.find(request.id)) ?? request, name, data, token)
    },
  }
}

function replaceApprove(wrong: (people: People) => People = (people) => people, kept: (store: Store) => Store = (store) => store): Mutate {
  return (bot: Bot, world: World) => {
    const { store, note } = openRecords(world)
    const accountApi = createAccountApi({ baseUrl: new URL(world.accountApi.url), key: new Secret(world.accountApi.key), onCall: () => {} })
    const catalog = createCatalog([moveChange({ account: accountApi }), renameChange(fakeApp({ account: accountApi }))])
    const read = readPolicy(policy, 'policy.yml', { kinds: catalog.kinds(), bundles: new Map(), expiresMs: 90_000 })
    if ('lines' in read) throw new Error(read.lines.join('\n'))
    const people = createDirectory({ client: new WebClient(world.slack.botToken, { slackApiUrl: world.slack.apiUrl }) })
    const decide = decideWith(
      fakeApp(judging(read.policy, wrong(people), note), {
        signatures: world.signatures,
        store: kept(store),
        catalog,
        errors: { of: () => () => {} },
        queues: { wake: async () => {} },
      }),
    )
    const real = bot.interactions.clicks[cardButtons.approve]
    bot.interactions.clicks[cardButtons.approve] = async (click) => {
      const button = readButton(click.value)
      const request = button && (await store.find(button.id))
      const isPlain =
        request && belongsTo(button, request) && click.messageTs === request.cardTs && click.origin.userId !== request.origin.userId
      if (!isPlain) return typeof real === 'function' ? real(click) : undefined
      noteRequest(request.id)
      click.answer.about(
        subjectWords(catalog.titleOf(request), { id: request.id, link: 'https://nimbus-works.slack.com/archives/C0OPS00001/p1' }),
      )
      const { missing, needed } = await decide.approve(request, click.origin)
      if (missing > 0) await click.answer.ephemeral(notice(counted({ missing, needed })))
    }
  }
}
