import type { KnownBlock } from '@slack/web-api'
import { test } from 'vitest'
import { breakGlassForm } from '../../src/buttons/request-buttons.ts'
import { ownFreezeName } from '../../src/domain/starts.ts'
import { endedFreezeMessage, freezeMessage, frozenBlocks, notFrozen, policyFreezeWords } from '../../src/messages/freezes.ts'
import { freezeOfUnknownKey } from '../../src/messages/operator-notices.ts'
import { passesWords } from '../../src/messages/request-words.ts'
import type { FreezeRecord } from '../../src/record/freeze.ts'
import { description } from '../given/request.ts'
import { docsUrl } from '../given/slack.ts'
import { expectDocument } from './documents.ts'
import { readable, readableBlocks } from './readable.ts'

const at = (hour: number) => Date.UTC(2026, 10, 27, hour)

function record(more: Partial<FreezeRecord> = {}): FreezeRecord {
  const reason = 'see https://tickets.nimbus.example/OPS-1 <!channel>'
  const times = { setAt: at(9), from: at(9), before: [], id: 'f4' }
  return { revision: 4, isOn: true, ...times, by: 'U0BEN00001', reason, channelId: 'C0OPS00001', ...more }
}

const lifted = record({ isOn: false, by: 'U0CHI00001', reason: undefined, ends: 'f3' })
const later = record({ from: at(12), until: at(18) })
const policy = [{ name: 'Black Friday', from: at(0), to: at(23) }]
const home = (freeze: Parameters<typeof frozenBlocks>[0], mayLift = false, ofPolicy = [] as typeof policy) =>
  readableBlocks(frozenBlocks(freeze, ofPolicy, at(10), mayLift))
const trusted = (of: FreezeRecord) => ({ record: of, isUnreadable: false })
const metadata = { origin: { channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' } }
const emergency = (...passes: Parameters<typeof passesWords>) =>
  readableBlocks(
    breakGlassForm({ passes: passesWords(...passes), start: undefined, checks: [], told: [] })(metadata, description.title).blocks.slice(
      0,
      1,
    ) as KnownBlock[],
  )
const own = { by: 'freeze', name: ownFreezeName } as const

test('everything that is said of a freeze', async () => {
  await expectDocument('freezes.md', 'What is said of a freeze', [
    ['In its channel, when it begins', readable(freezeMessage(docsUrl, record({ until: at(18) }), 'set', true))],
    ['To the operators', readable(freezeMessage(docsUrl, record({ until: at(18) })))],
    [
      'Without an end, in place of another one',
      readable(freezeMessage(docsUrl, record({ ends: 'f3', replaced: { by: 'U0ADA00001', until: at(18) } }), 'set', true)),
    ],
    [
      'Before one that was planned',
      readable(
        freezeMessage(
          docsUrl,
          record({ ends: 'f3', next: { id: 'f2', setAt: at(8), by: 'U0ADA00001', from: at(12), until: at(18) } }),
          'set',
          true,
        ),
      ),
    ],
    ['In its channel, if it begins later', readable(freezeMessage(docsUrl, later, 'set', true))],
    ['Its beginning has come', readable(freezeMessage(docsUrl, later, 'begun'))],
    ['On the Home tab, before it begins', home(trusted(later), true)],
    ['Its first message, once its time is over', readable(endedFreezeMessage(record({ until: at(18) })))],
    ['Its first message, once it was lifted', readable(endedFreezeMessage(record({ id: 'f3' }), { ...lifted, until: at(11) }))],
    [
      'Its first message, once another one replaced it',
      readable(endedFreezeMessage(record({ id: 'f3', until: at(18) }), record({ setAt: at(11), ends: 'f3' }))),
    ],
    [
      'Its first message, if it was lifted before it began',
      readable(endedFreezeMessage({ ...later, id: 'f3' }, { ...lifted, until: at(11) })),
    ],
    [
      'Its first message, if Lockkeeper replaced it before it began',
      readable(endedFreezeMessage({ ...later, id: 'f3' }, record({ by: undefined, ends: 'f3' }))),
    ],
    ['It is lifted before it begins', readable(freezeMessage(docsUrl, { ...lifted, from: at(12), until: at(11) }))],
    ['It is lifted', readable(freezeMessage(docsUrl, lifted))],
    [
      'It is lifted, and one that was planned stays',
      readable(
        freezeMessage(docsUrl, {
          ...lifted,
          until: at(11),
          next: { id: 'f2', setAt: at(8), by: 'U0ADA00001', from: at(12), until: at(18) },
        }),
      ),
    ],
    ['Its time is over', readable(freezeMessage(docsUrl, record({ until: at(18) }), 'over'))],
    ['On the Home tab, of somebody who may lift it', home(trusted(record({ until: at(18) })), true)],
    ['On the Home tab, of somebody who may not', home(trusted(record()))],
    ['On the Home tab, with a freeze of the policy', home(trusted(record()), true, policy)],
    ['On the Home tab, after Redis lost data', home(trusted(record({ by: undefined, reason: undefined, because: 'data-lost' })), true)],
    ['On the Home tab, if the record was signed with another key', home({ record: undefined, isUnreadable: true }, true)],
    ['On the Home tab, if its time is over', home(trusted(record({ until: at(9) })), true)],
    ['A freeze of the policy begins', policyFreezeWords(policy[0] as (typeof policy)[0], false).text],
    ['A freeze of the policy ends', policyFreezeWords(policy[0] as (typeof policy)[0], true).text],
    ['There is nothing to lift', notFrozen([]).text],
    ['There is only a freeze of the policy', notFrozen(policy).text],
    ...(['freeze-missing', 'freeze-older', 'freeze-forged'] as const).map((because): [string, string] => [
      `To the operators, if the record cannot be believed: ${because}`,
      readable(freezeMessage(docsUrl, record({ by: undefined, reason: undefined, channelId: undefined, because }))),
    ]),
    ['To the operators, if the record was signed with another key', freezeOfUnknownKey('web-1', '{lockkeeper}:freeze').text],
    ['The form of an emergency approval', emergency([], () => undefined)],
    ['It passes a freeze', emergency([{ ...own, id: 'f3', until: at(23) }], (id) => (id === 'f3' ? 'U0BEN00001' : undefined))],
    ['It passes a window and a freeze of Lockkeeper', emergency([{ by: 'window', name: 'office', until: at(23) }, own], () => undefined)],
  ])
})
