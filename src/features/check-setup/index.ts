import { notice } from '../../slack/blocks/notice.ts'
import { option } from '../../slack/blocks/option.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { diagnose } from './diagnose.ts'
import { createGather, type GatherParts } from './gather.ts'
import { testIds, tests } from './messages.ts'
import { report } from './report.ts'

/** `/infra doctor`: checks the app, Redis, the account API and the workers, and says how to fix what is wrong. */
export const checkSetup = { create } satisfies FeatureDefinition

function create(parts: GatherParts): Feature {
  const gather = createGather(parts)

  async function buttonWorks({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.buttonWorks))
  }

  async function pickerWorks({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.pickerWorks))
  }

  async function tableWorks({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.tableWorks))
  }

  async function tableFails({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.tableFails))
  }

  return {
    commands: [
      {
        words: 'doctor',
        usage: '',
        group: 'View',
        summary: 'Check the setup: Slack, Redis, the account API, the workers',
        details: mrkdwn`Failed checks come first, with a fix. Then come checks without a result, and checks that passed.`,
        examples: [],
        need: 'read',
        run: async ({ slashCommand }) => {
          const facts = await gather(slashCommand.origin)
          await slashCommand.answer.ephemeral(report(facts.bot, diagnose(facts)))
        },
      },
    ],
    clicks: {
      [testIds.button]: buttonWorks,
      [testIds.picker]: pickerWorks,
      [testIds.tableSeen]: tableWorks,
      [testIds.tableUnseen]: tableFails,
    },
    options: { [testIds.picker]: async () => ({ options: [option({ text: tests.choice, value: 'works' })] }) },
  }
}
