// The client's own texts in the language of the editor. Modules without the editor use it too, so the editor's function
// is set at the start. Texts of the server are shown as they are.

export type Translate = (message: string, ...args: (string | number)[]) => string;

let translate: Translate = (message, ...args) => message.replaceAll(/\{(\d+)\}/g, (_, index) => String(args[Number(index)] ?? ""));

export function useTranslation(translation: Translate): void {
  translate = translation;
}

/** CommandContext side by side, with the separator of the language. */
export function list(...parts: string[]): string {
  return parts.reduce((all, it) => t("{0}, {1}", all, it));
}

/** A whole sentence or label: other languages order its parts differently. `{0}` stands for the first argument. */
export function t(message: string, ...args: (string | number)[]): string {
  return translate(message, ...args);
}
