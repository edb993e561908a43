/** Something that happened on the account, by its own audit (`GET /events`). `action` is an open set (`update.elastic_ip` …). */
export interface AccountEvent {
  id: string
  action: string | undefined
  target: { id: string | undefined; name: string | undefined } | undefined
  author: { id: string | undefined; name: string | undefined; email: string | undefined } | undefined
  createdAt: string | undefined
}
