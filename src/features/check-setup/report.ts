import type { KnownBlock } from '@slack/web-api'
import { actions, button, context, wholeSection } from '../../slack/blocks/blocks.ts'
import { externalSelect } from '../../slack/blocks/inputs.ts'
import { limitBlocks, message } from '../../slack/blocks/message.ts'
import { mostCharacters } from '../../slack/text/characters.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { Finding } from './diagnose.ts'
import { heading, testIds, tests } from './messages.ts'

const order = { wrong: 0, unknown: 1, ok: 2 } as const
const signs = { wrong: ':x:', unknown: ':grey_question:', ok: ':white_check_mark:' } as const

// Two blocks of a message, and their words, are for what can be tried.
const limits = { most: 48, characters: mostCharacters - 100 } as const

/** What the doctor says: what is wrong first; below it two things to try, which prove that clicks and pickers arrive. Pure. */
export function report(bot: string, findings: Finding[]): Message {
  const wrong = findings.filter((finding) => finding.is === 'wrong').length
  const unsure = findings.filter((finding) => finding.is === 'unknown').length
  const title = heading({ wrong, unsure, all: findings.length })
  const about = mrkdwn`Lockkeeper ${bot}`
  const lines = findings.toSorted((a, b) => order[a.is] - order[b.is]).map(line)
  const content = [...wholeSection(title), ...context([about]), ...lines.flatMap(wholeSection)]
  const blocks = [...limitBlocks(content, limits), ...thingsToTry()]
  return message({ text: joinMrkdwn([title, about, ...lines], '\n'), blocks })
}

function line({ is, what, words, mend }: Finding): Mrkdwn {
  const toDo = mend ? mrkdwn` ${is === 'wrong' ? mrkdwn`*To mend it:* ` : ''}${mend}` : ''
  return mrkdwn`${signs[is]} *${what}* ${words}${toDo}`
}

function thingsToTry(): KnownBlock[] {
  const picker: KnownBlock = {
    type: 'actions',
    elements: [externalSelect({ actionId: testIds.picker, placeholder: tests.picker })],
  }
  return [...actions([button({ text: tests.button, actionId: testIds.button, value: 'test' })]), picker]
}
