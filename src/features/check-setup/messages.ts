import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

export const testIds = {
  button: 'doctor-button',
  picker: 'doctor-picker',
  tableSeen: 'doctor-table-seen',
  tableUnseen: 'doctor-table-unseen',
} as const

export const tests = {
  button: 'Test the buttons',
  picker: 'Test the pickers',
  choice: 'Sent by Lockkeeper. Choose this.',
  buttonWorks: mrkdwn`:white_check_mark: Buttons work.`,
  table: { caption: 'A table', headers: ['Test', 'Result'], rows: [['Tables', 'Slack shows this table']] },
  tableQuestion: mrkdwn`*Can you see this table?* Lists such as ${code('ip list')} are tables.`,
  tableSeen: 'Yes, I see it',
  tableUnseen: 'No',
  tableWorks: mrkdwn`:white_check_mark: Tables work.`,
  tableFails: mrkdwn`:x: Your Slack app can't show tables. Update it. Until then, use Slack in a browser to read lists.`,
  tableRefused: mrkdwn`:grey_question: *Tables:* Slack refused a table, so lists are shown as text. Slack rolls tables out in phases. Run this command again later.`,
  pickerWorks: mrkdwn`:white_check_mark: Pickers work.`,
}

/** `2 of 12 checks failed, 1 unknown` */
export function heading({ wrong, unsure, all }: { wrong: number; unsure: number; all: number }): Mrkdwn {
  const passed = unsure === 0 ? 'All checks passed' : 'No check failed'
  const outcome = wrong === 0 ? passed : `${wrong} of ${all} checks failed`
  return mrkdwn`*${outcome}*${unsure === 0 ? '' : `, ${unsure} unknown`}`
}
