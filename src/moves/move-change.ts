import type { AccountApi } from '../account-api/client.ts'
import { asFarAsRead, findInList } from '../account-api/lists/cut-list.ts'
import type { ElasticIp } from '../domain/account/elastic-ip.ts'
import { projectName } from '../domain/account/place.ts'
import type { Change } from '../domain/change/change.ts'
import type { Description, Fact } from '../domain/change/description.ts'
import { explainer } from '../domain/change/finding.ts'
import type { Observation } from '../domain/change/observation.ts'
import type { OnAnswer } from '../domain/change/on-answer.ts'
import { addressOf, completeMove, MoveFacts, MoveInput, moveDifferences, moveRemark } from '../domain/elastic-ip-move/elastic-ip-move.ts'
import { MoveFinding } from '../domain/elastic-ip-move/findings.ts'
import { observeMove } from '../domain/elastic-ip-move/progress.ts'
import { afterMove } from '../domain/elastic-ip-move/warnings.ts'
import { moveWords } from '../domain/elastic-ip-move/words.ts'
import { ApiError } from '../domain/errors/api-errors.ts'
import { phrase } from '../domain/text/phrase.ts'
import type { ServerCopies } from './find-server.ts'
import { createPreflight } from './preflight.ts'

/** The kind of the change. This name is public. */
export const moveKind = 'ip.move'

/**
 * Creates the change that moves an Elastic IP (interface specification, "PATCH /elastic_ips/{elastic_ip_id}"). `copies`: where a request finds
 * servers without a read of their own.
 */
export function createMoveChange(
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>,
  copies?: ServerCopies,
): Change<MoveInput, MoveFacts> {
  async function run(input: MoveInput, _: MoveFacts, { onAnswer }: { onAnswer: OnAnswer }): Promise<'tracking'> {
    await accountApi.elasticIps.move(input.elasticIpId, input.serverId, { onAnswer })
    return 'tracking'
  }

  /** Confirms a 404 with the list, because a proxy in front of the account API may have answered it. */
  async function goneUnlessListed(id: string): Promise<ElasticIp | 'gone'> {
    return (await findInList(accountApi.elasticIps.list(), (elasticIp) => elasticIp.id === id)) ?? 'gone'
  }

  async function readAlone(id: string, signal: AbortSignal): Promise<ElasticIp | 'gone'> {
    return accountApi.elasticIps.get(id, { signal }).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error
      return goneUnlessListed(id)
    })
  }

  /** Reads the server again if it was not on when the move was sent, so that the report does not say that the address answers. */
  async function withNotes(facts: MoveFacts, signal: AbortSignal): Promise<Observation> {
    if (facts.toStatus === undefined) return { is: 'done' }
    const now = await accountApi.servers.get(facts.to.id, { signal }).catch(() => undefined)
    return { is: 'done', notes: afterMove(facts, now) }
  }

  return {
    kind: moveKind,
    label: 'moving an Elastic IP',
    takesTime: true,
    input: MoveInput,
    facts: MoveFacts,
    resource: (input) => `elastic_ip:${input.elasticIpId}`,
    project: (facts) => facts.project ?? 'unknown',
    preflight: createPreflight(accountApi, copies),
    differences: moveDifferences,
    explain: explainer(MoveFinding, moveWords),
    complete: completeMove,
    remark: moveRemark,
    subject: addressOf,
    describe: describeMove,
    run,
    observe: async (input, facts, moment, { signal, rows }) => {
      const row = rows?.get(input.elasticIpId) as ElasticIp | undefined
      const listed = row && observeMove(facts, row, moment)
      const observation = listed && isTrusted(listed) ? listed : observeMove(facts, await readAlone(input.elasticIpId, signal), moment)
      return observation.is === 'done' ? withNotes(facts, signal) : observation
    },
    look: async (wanted, { signal }) => {
      // Beyond so many pages, it costs less to read the rest alone.
      const pages = Math.ceil(wanted.length / 4)
      const { items } = await asFarAsRead(accountApi.elasticIps.list({ pages, wanted, signal }))
      return new Map(items.map((item) => [item.id, item]))
    },
    underwayNow: {
      list: async ({ signal }) => (await accountApi.elasticIps.list({ status: 'moving', signal })).map(movingWords),
      some: 'Elastic IPs that are moving now',
      none: 'No Elastic IP is moving now.',
      unread: "Couldn't read which Elastic IPs are moving now. Check the account.",
    },
    doneSentence: (facts) => phrase`${addressOf(facts)} is assigned to ${facts.to.name}.`,
    reverse: (_, facts) => {
      const { elasticIpId, from, to } = facts
      if (!from) return undefined
      return { input: { elasticIpId, serverId: from.id }, facts: { ...facts, from: to, to: from }, label: 'Move back' }
    },
  }
}

/** Whether a row of a list is enough. Rows can shift while a list is read, so every other end is confirmed by a read of the address alone. */
function isTrusted({ is }: Observation): boolean {
  return is === 'done' || is === 'underway' || is === 'unclear'
}

/** Names the server as *shown*, because during a move a read may show the old server or the target. */
function movingWords({ id, address, server }: ElasticIp): string {
  return `${address} (${id}), shown on ${server?.hostname ?? server?.id ?? 'no server'}`
}

export function describeMove(facts: MoveFacts): Description {
  const { from, to, project, site, showsNoServer } = facts
  const address = addressOf(facts)
  return {
    title: from ? phrase`Move ${address}: ${from.name} → ${to.name}` : phrase`Move ${address} → ${to.name}`,
    facts: [
      ...(from ? [] : [{ label: 'From', value: showsNoServer ? 'no server shown' : 'unknown' }]),
      { label: 'Project', value: project ? projectName(project) : 'unknown' },
      { label: 'Site', value: site ?? 'unknown' },
    ],
    ids: [
      ...(facts.address ? [{ label: 'Elastic IP', value: facts.elasticIpId }] : []),
      ...(from ? idOf('From', from) : []),
      ...idOf('To', to, facts.toAddress),
    ],
    underway: 'moving',
  }
}

/** Shows what the title does not say of a server: its id, and its primary address. */
function idOf(label: string, { id, name }: { id: string; name: string }, address?: string): Fact[] {
  const [value, detail] = [name === id ? undefined : id, address].filter((shown) => shown !== undefined)
  return value === undefined ? [] : [{ label, value, ...(detail === undefined ? {} : { detail }) }]
}
