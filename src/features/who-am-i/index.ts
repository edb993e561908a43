import type { Access } from '../../requests/access/access.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { rightsListing } from './messages.ts'

/** `/infra whoami`: what this person may request and approve here, and by which rule. */
export const whoAmI = { create } satisfies FeatureDefinition

function create({ access, catalog }: { access: Pick<Access, 'rights'>; catalog: Pick<Catalog, 'labelOf'> }): Feature {
  return {
    commands: [
      {
        words: 'whoami',
        usage: '',
        group: 'You',
        summary: 'What you may request and approve here, and by which rule',
        examples: [],
        need: 'read',
        run: async ({ slashCommand: { origin }, list }) => list(rightsListing(await access.rights(origin), origin, catalog.labelOf)),
      },
    ],
  }
}
