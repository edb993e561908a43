import { createAddress, isSamePlace, type Place } from './address.ts'
import type { OpenView, Workspace } from './api.ts'
import type { AppTab, Desk } from './desk.ts'

export interface NavigationOptions {
  workspace: Workspace
  desk: Desk
  /** Closes the form on top. Returns whether there was one. */
  closeForm(): boolean
  /** Called after every move to another place. */
  moved(): void
  update(): void
}

const tabs: readonly string[] = ['home', 'messages'] satisfies AppTab[]

export function isTab(channel: string | null): channel is AppTab {
  return channel !== null && tabs.includes(channel)
}

/** Moves between people, channels, the app and threads. Every move is an entry in the browser's history. */
export function createNavigation({ workspace, desk, closeForm, moved, update }: NavigationOptions) {
  const address = createAddress()
  let threadTs: string | undefined
  let sideOpen = false
  let hadForm = false
  /** The lowest view of the forms that are set aside while their reader looks at a message. */
  let aside: string | undefined

  const here = (): Place => ({ as: desk.me().id, channel: desk.tab() ?? desk.channel().id, thread: threadTs ?? null })

  function enter(change: () => unknown) {
    change()
    address.go(here())
    arrive()
  }

  function arrive() {
    sideOpen = false
    moved()
  }

  function go(id: string) {
    if (isTab(id)) desk.goToApp(id)
    else desk.goTo(id)
  }

  function focusThread() {
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.thread-list')?.focus())
  }

  function toggleSide(open: boolean) {
    sideOpen = open
    update()
  }

  /** Closes the thread. The focus goes to its bar if it was in the thread, so that a half-typed message keeps it otherwise. */
  function closeThread() {
    const bar = document.querySelector<HTMLElement>(`.messages [data-ts="${threadTs}"] .thread-bar`)
    const wasInside = document.activeElement?.closest('.thread') || document.activeElement === document.body
    threadTs = undefined
    address.go(here())
    update()
    if (wasInside) bar?.focus()
  }

  /** Shows a place of the history, without a new entry. All at once, because the next step of the history may follow before messages are read. */
  function show(place: Place) {
    const { as, channel, thread } = place
    if (isSamePlace(place, here())) return update()
    if (as !== desk.me().id && workspace.people.some(({ id }) => id === as)) void desk.actAs(as ?? '')
    threadTs = thread ?? undefined
    go(channel ?? '')
    arrive()
  }

  address.start(here())

  return {
    thread: () => threadTs,
    isSideOpen: () => sideOpen,
    toggleSide,
    closeThread,

    goTo(id: string) {
      enter(() => {
        threadTs = undefined
        go(id)
      })
    },

    actAs: (id: string) => enter(() => desk.actAs(id)),

    openThread(ts: string) {
      threadTs = ts
      address.go(here())
      update()
      focusThread()
    },

    /** Closes what covers the channel: the side bar of a narrow page, or the thread. */
    closeTop() {
      if (sideOpen) toggleSide(false)
      else if (threadTs !== undefined) closeThread()
    },

    /** Returns the forms that are shown. */
    formsOf: (views: OpenView[]): OpenView[] => (views[0] && views[0].id === aside ? [] : views),

    /** Hides the open forms. Back returns to them, once `record` has added an entry for what is shown instead. */
    setAside(views: OpenView[]) {
      aside = views[0]?.id
      update()
    },

    record: () => address.go(here()),

    /** Called after every render: while a form is open, Back closes it. */
    settleForm(isOpen: boolean) {
      if (isOpen && !hadForm) address.enterForm()
      if (!isOpen && hadForm) address.leaveForm()
      hadForm = isOpen
    },

    follow() {
      address.follow((place) => {
        if (address.isForm()) aside = undefined
        else if (closeForm()) {
          // The next render adds an entry for a form that is still open below.
          hadForm = false
          return
        }
        show(place)
      })
    },

    /** Shows the thread of the address, for a reload. */
    restore(thread: string | null) {
      threadTs = thread ?? undefined
      address.start(here())
    },
  }
}

export type Navigation = ReturnType<typeof createNavigation>
