import type { Access } from '../../requests/lifecycle/access.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { rightsMessage } from './messages.ts'

/** `/infra whoami`: what this person may request and approve here, and by which rule. */
export const whoAmI = { create } satisfies FeatureDefinition

function create({ access }: { access: Pick<Access, 'rights'> }): Feature {
  return {
    commands: [
      {
        words: 'whoami',
        usage: '',
        summary: 'Tells what you may request and approve here, and by which rule.',
        example: '',
        need: 'read',
        run: async ({ slashCommand: { origin }, say }) => say(rightsMessage(await access.rights(origin), origin)),
      },
    ],
  }
}
