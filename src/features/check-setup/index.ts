import { option } from '../../slack/blocks.ts'
import type { Click } from '../../slack/interaction.ts'
import { notice } from '../../slack/notice.ts'
import { mrkdwn } from '../../slack/text.ts'
import type { Feature } from '../feature.ts'
import { diagnose } from './diagnose.ts'
import { createGather, type GatherParts } from './gather.ts'
import { diagnosis, testIds } from './messages.ts'

/** `/infra doctor`: how the app, Redis, the account API and the workers are set up, and what to do about what is wrong. */
export function checkSetup(parts: GatherParts): Feature {
  const gather = createGather(parts)

  async function buttonWorks({ answer }: Click): Promise<void> {
    await answer.whisper(notice(mrkdwn`:white_check_mark: Buttons work: your click reached me.`))
  }

  async function pickerWorks({ answer }: Click): Promise<void> {
    await answer.whisper(notice(mrkdwn`:white_check_mark: Pickers work: Slack asked me for the choices, and your choice reached me.`))
  }

  return {
    commands: [
      {
        words: 'doctor',
        usage: '',
        summary: 'Checks how everything is set up: Slack, Redis, the account API and the workers, each line ok or what to do.',
        example: '',
        need: 'read',
        run: async ({ asked }) => {
          const facts = await gather(asked.origin)
          await asked.answer.whisper(diagnosis(facts.bot, diagnose(facts)))
        },
      },
    ],
    clicks: { [testIds.button]: buttonWorks, [testIds.picker]: pickerWorks },
    options: { [testIds.picker]: async () => ({ options: [option({ text: 'Choose me: I came from Lockkeeper', value: 'works' })] }) },
  }
}
