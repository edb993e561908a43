import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

export function usage(name: string): Mrkdwn {
  return mrkdwn`A move needs an Elastic IP and a server: ${code(`${name} ip move <elastic ip> <server>`)}, for example ${code(`${name} ip move 203.0.113.10 web-2`)}. Put names with spaces in quotes. ${code(`${name} ip move`)} alone opens a form.`
}
