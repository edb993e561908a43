import { actions, button, context, externalSelect, message, wholeSection } from '../../slack/blocks.ts'
import type { Message } from '../../slack/messenger.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text.ts'
import type { Finding } from './diagnose.ts'

export const testIds = { button: 'doctor-button', picker: 'doctor-picker' } as const

const order = { wrong: 0, unknown: 1, ok: 2 } as const

/** What the doctor says: what is wrong first, and two things to try, which prove that clicks and pickers arrive. Pure. */
export function diagnosis(bot: string, findings: Finding[]): Message {
  const sorted = findings.toSorted((a, b) => order[a.is] - order[b.is])
  const wrong = findings.filter((finding) => finding.is === 'wrong').length
  const unsure = findings.filter((finding) => finding.is === 'unknown').length
  const heading = mrkdwn`*${wrong === 0 ? 'Nothing needs mending' : `${wrong} of ${findings.length} need mending`}*${unsure > 0 ? `, ${unsure} could not be found out` : ''}`
  const about = mrkdwn`Lockkeeper ${bot}`
  const lines = sorted.map(line)
  const blocks = [
    ...wholeSection(heading),
    ...lines.flatMap((words) => wholeSection(words)).slice(0, 44),
    ...actions([button({ text: 'Test the buttons', actionId: testIds.button, value: 'test' })]),
    {
      type: 'actions' as const,
      elements: [externalSelect({ actionId: testIds.picker, placeholder: 'Test the pickers', minQueryLength: 0 })],
    },
    ...context([about]),
  ]
  return message({ text: joinMrkdwn([heading, ...lines, about], '\n'), blocks })
}

function line({ is, what, words, mend }: Finding): Mrkdwn {
  const sign = is === 'ok' ? mrkdwn`:white_check_mark:` : is === 'wrong' ? mrkdwn`:x:` : mrkdwn`:grey_question:`
  const then = mend ? mrkdwn` ${is === 'wrong' ? mrkdwn`*To mend it:* ` : ''}${mend}` : mrkdwn``
  return mrkdwn`${sign} *${what}* ${words}${then}`
}
