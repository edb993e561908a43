import { setTimeout as pause } from 'node:timers/promises'
import { WebClient } from '@slack/web-api'
import { createAccountApi } from '../../src/account/client.ts'
import { readPolicy } from '../../src/config/policy-file.ts'
import { noteRequest } from '../../src/domain/lane.ts'
import { Secret } from '../../src/domain/signing.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { renameChange } from '../../src/features/vm-rename.ts'
import { belongsTo, cardButtons, readButton } from '../../src/messages/button-ids.ts'
import { counted } from '../../src/messages/refusals.ts'
import { subjectWords } from '../../src/messages/request-words.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import type { Store } from '../../src/record/store.ts'
import type { Access } from '../../src/rights/access.ts'
import { notice } from '../../src/slack/blocks.ts'
import { createDirectory } from '../../src/slack/people.ts'
import type { Bot } from '../../src/start/bot.ts'
import { fakeApp } from '../fake-app.ts'
import { accessWith } from '../given/access.ts'
import { decideWith } from '../given/decide-with.ts'
import { openRecords } from '../journeys/records.ts'
import type { World } from '../journeys/world.ts'
import { type Command, change, press, requestChange } from './commands.ts'
import { arrive } from './happenings.ts'
import type { Mutate } from './session.ts'
import { type Name, policy } from './staff.ts'

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
    mutate: replaceApprove((access) => ({ ...access, authorize: async () => ({ via: 'anybody' }) })),
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
    mutate: replaceApprove((access) => ({
      ...access,
      tally: async (_, approvers) => ({ enough: approvers.length >= 2, missing: Math.max(2 - approvers.length, 0), needed: 2 }),
    })),
    commands: [requestChange('ip.move', 0, ['ada']), approve('chiara'), change('oncall', 'chiara'), approve('ben'), approve('finn')],
  },
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

function replaceApprove(wrong: (access: Access) => Access = (access) => access, kept: (store: Store) => Store = (store) => store): Mutate {
  return (bot: Bot, world: World) => {
    const { store, note } = openRecords(world)
    const accountApi = createAccountApi({ baseUrl: new URL(world.accountApi.url), key: new Secret(world.accountApi.key), onCall: () => {} })
    const catalog = createCatalog([moveChange({ account: accountApi }), renameChange(fakeApp({ account: accountApi }))])
    const read = readPolicy(policy, 'policy.yml', { kinds: catalog.kinds(), bundles: new Map(), expiresMs: 90_000 })
    if ('lines' in read) throw new Error(read.lines.join('\n'))
    const access = accessWith({
      people: createDirectory({ client: new WebClient(world.slack.botToken, { slackApiUrl: world.slack.apiUrl }) }),
      policy: read.policy,
      catalog,
      noteRefusal: note,
    })
    const decide = decideWith(
      fakeApp({
        signatures: world.signatures,
        store: kept(store),
        access: wrong(access),
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
