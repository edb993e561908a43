/** Opens dialogs that were added to the document, and moves the focus into them and back. */
export function createDialogs() {
  let shown: { dialog: HTMLDialogElement; content: Element | null; cameFrom: Element | null }[] = []

  /** Called after every render. */
  return function settleDialogs() {
    const present = [...document.querySelectorAll<HTMLDialogElement>('dialog.dialog')]
    for (const { dialog, cameFrom } of shown) {
      if (!present.includes(dialog) && cameFrom instanceof HTMLElement && cameFrom.isConnected) cameFrom.focus()
    }
    shown = present.map((dialog) => {
      const before = shown.find((one) => one.dialog === dialog)
      const cameFrom = before?.cameFrom ?? document.activeElement
      const content = dialog.firstElementChild
      if (!dialog.open) dialog.showModal()
      if (before?.content !== content) focusFirst(dialog)
      return { dialog, content, cameFrom }
    })
  }
}

function focusFirst(dialog: HTMLDialogElement) {
  const wanted = dialog.querySelector<HTMLElement>('[data-autofocus]')
  const first = dialog.querySelector<HTMLElement>('.modal-body input, .modal-body textarea, .modal-body button, .dialog-buttons .button')
  ;(wanted ?? first)?.focus()
}
