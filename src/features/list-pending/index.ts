import type { Request } from '../../domain/request/request.ts'
import { phraseText } from '../../domain/text/phrase.ts'
import type { Access } from '../../requests/access/access.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { Store } from '../../requests/store/store.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { type Pending, pendingListing } from './messages.ts'

/** The most requests on the list. Each needs the viewer's rights, and Slack limits how often groups can be read. */
const mostShown = 500

interface ListPendingParts {
  store: Pick<Store, 'findOpen'>
  access: Pick<Access, 'judge' | 'tally'>
  catalog: Pick<Catalog, 'titleOf'>
  linkTo: (request: Pending['request']) => string | undefined
}

/** `/infra pending`: lists the requests that wait for an approval, and marks those that the viewer can decide. */
export const listPending = { create } satisfies FeatureDefinition

function create({ store, access, catalog, linkTo }: ListPendingParts): Feature {
  return {
    commands: [
      {
        words: 'pending',
        usage: '',
        group: 'You',
        summary: 'Requests that need approval, those you can approve first',
        examples: [],
        need: 'read',
        run: async ({ slashCommand: { origin }, list }) => {
          const { requests, unreadable } = await store.findOpen()
          const waiting = requests.filter(waits)
          const rows = await Promise.all(
            waiting.slice(0, mostShown).map(async (request): Promise<Pending> => {
              const by = request.approvals.map((approval) => approval.by)
              const [ruling, { missing, needed }] = await Promise.all([
                access.judge(origin, { to: 'decide', request }),
                access.tally(request, by, 'refusal'),
              ])
              return {
                request,
                title: phraseText(catalog.titleOf(request)),
                isMine: request.origin.userId === origin.userId,
                canDecide: ruling.allowed && !by.includes(origin.userId),
                missing,
                needed,
                link: linkTo(request),
              }
            }),
          )
          await list(pendingListing(rows, { more: waiting.length - rows.length, unreadable }))
        },
      },
    ],
  }
}

function waits({ state, needsApproval }: Request): boolean {
  return state === 'waiting' && needsApproval
}
