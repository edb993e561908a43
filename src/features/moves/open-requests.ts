import type { App } from '../../app.ts'
import type { Finding } from '../../domain/change.ts'
import { holdOf, isOpen, type Request } from '../../domain/request.ts'
import { phraseText, withoutOwner } from '../../domain/text.ts'
import { readBriefly } from '../../kit/thing.ts'
import { stateWithCount } from '../../messages/items.ts'
import { holdNow } from '../../outbox/render.ts'

/** How a finding names an open request. */
export function named({ catalog, slack }: App, request: Request): { title: string; link: string | undefined; by: string } {
  const title = phraseText(withoutOwner(catalog.titleOf(request, { isShort: true })))
  return { title, link: slack.identity.linkTo(request), by: request.origin.userId }
}

/** How far something is that goes on by itself: `moving, 1 of 4 moved`. Undefined if it waits for people, or is held. */
export function goingOn(request: Request): string | undefined {
  return request.state === 'waiting' || holdOf(request) ? undefined : stateWithCount(request, 'moving')
}

/** Finds what moves addresses to a server, or evacuates it: approved, and open. */
export async function movesAt(app: App, serverId: string) {
  const { requests } = await app.store.findOpen()
  return requests.flatMap((request) => {
    const isAway = request.resource === `server:${serverId}`
    if (request.state === 'waiting' || (!isAway && app.catalog.targetOf(request)?.id !== serverId)) return []
    if (app.signatures.verifyRecord(request) !== 'genuine') return []
    const [isUnsent, start] = [request.state === 'approved', holdNow(app, request)?.until]
    return [{ ...named(app, request), isAway, isUnsent, state: stateWithCount(request, 'moving'), start }]
  })
}

/** Warns of open evacuations of the target, and of open requests to the evacuated server: their locks allow both. A failure prevents no move. */
export async function warnOfOthers(
  app: App,
  { to, from }: { to: { id: string; name: string }; from?: { id: string; name: string } },
): Promise<Finding[]> {
  async function read(): Promise<Finding[]> {
    const isGenuine = (request: Request) => app.signatures.verifyRecord(request) === 'genuine'
    // An evacuation locks its server, so a move does not have to read all open requests.
    const away = (await app.store.othersFor({ id: '', resource: `server:${to.id}` })).filter(isGenuine)
    const { requests } = from ? await app.store.findOpen() : { requests: [] }
    const here = requests.filter(
      (each) => isOpen(each.state) && !each.parent && app.catalog.targetOf(each)?.id === from?.id && isGenuine(each),
    )
    const [first, ...others] = here
    return [
      ...away.map((each) => ({ code: 'target-evacuated', server: to.name, ...named(app, each) })),
      ...(first ? [{ code: 'also-a-target', server: from?.name, ...named(app, first), others: others.length }] : []),
    ]
  }
  return (await readBriefly(read())) ?? []
}
