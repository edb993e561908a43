import type { PlainTextOption } from '@slack/web-api'
import { findInList } from '../../account-api/cut-list.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { OfferedThing } from '../../domain/offer.ts'
import { withinOr } from '../../domain/within.ts'
import type { Access } from '../../requests/access/access.ts'
import { noticeView } from '../../slack/blocks/notice.ts'
import { preset } from '../../slack/blocks/picker.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import { toUserWords } from '../../slack/errors.ts'
import { readJson } from '../../slack/receive/payloads.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import { moveModal } from './modal.ts'
import { withElasticIp } from './server-picker.ts'

interface MoveThisParts {
  inventory: Pick<Inventory, 'elasticIps' | 'servers'>
  access: Pick<Access, 'gateForm'>
}

/** The longest wait for the names that the filled form shows. Without them it shows the ids. */
const namesMs = 1_500

/** Creates the button *Move…* of a look-up: the filled form replaces what was found, or the reason why the person cannot request a move here. */
export function createMoveThis({ inventory, access }: MoveThisParts) {
  return async function moveThis({ view, value, origin }: Click): Promise<void> {
    if (!view) return
    const thing = readJson(OfferedThing, value)
    if (!thing) return view.update(noticeView(mrkdwn`This button is out of date. Look the message up again.`))
    try {
      await access.gateForm(origin, 'ip.move')
    } catch (error) {
      const problem = toUserWords(error)
      if (!problem) throw error
      return view.update(noticeView(problem, 'Not possible'))
    }
    const [elasticIp, server] = await Promise.all([elasticIpOption(thing.id), serverOption(thing.serverId)])
    await view.update(moveModal({ metadata: withElasticIp(view.metadata, thing.id), elasticIp, server }))
  }

  async function elasticIpOption(id: string): Promise<PlainTextOption | undefined> {
    const found = await known(findInList(inventory.elasticIps(), (each) => each.id === id))
    return preset({ text: found?.address ?? id, value: id })
  }

  async function serverOption(id: string | undefined): Promise<PlainTextOption | undefined> {
    if (id === undefined) return undefined
    const found = await known(findInList(inventory.servers(), (each) => each.id === id))
    return preset({ text: found?.hostname ?? id, value: id })
  }

  async function known<T>(read: Promise<T | undefined>): Promise<T | undefined> {
    return withinOr(
      namesMs,
      read.catch(() => undefined),
      undefined,
    )
  }
}
