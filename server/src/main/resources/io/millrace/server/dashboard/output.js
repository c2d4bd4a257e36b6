// The output of a program, as it is written.

import { LitElement, html, nothing } from 'lit';
import { download, getBytes } from './http.js';
import { size } from './format.js';
import { attempt, define } from './view.js';

const MAX_SHOWN = 256 * 1024;

/**
 * Streams of output side by side as tabs.
 *
 * - `streams`: `[name, path of the API]` each; the path takes `offset` in bytes
 * - `live`: whether more may come
 * - `key`: when it changes, the output is read from its begin
 */
class Output extends LitElement {
  static properties = {
    streams: { attribute: false },
    live: { attribute: false },
    key: { attribute: false },
    shown: { state: true },
    texts: { state: true },
  };

  createRenderRoot() {
    return this;
  }

  constructor() {
    super();
    this.shown = null;
    this.texts = new Map();
  }

  connectedCallback() {
    super.connectedCallback();
    this.timer = setInterval(() => this.live && !document.hidden && this.#read(), 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  updated(changed) {
    if (changed.has('key')) {
      this.#read(true);
    }
  }

  async #read(again = false) {
    if (this.reading) {
      this.again ||= again;
      return;
    }
    this.reading = true;
    try {
      const texts = new Map(again ? [] : this.texts);
      for (const [name, path] of this.streams) {
        const before = texts.get(name) ?? { bytes: 0, parts: [], more: false };
        if (before.more) continue;
        try {
          const { blob, more } = await getBytes(`${path}?offset=${before.bytes}`, MAX_SHOWN - before.bytes);
          texts.set(name, { bytes: before.bytes + blob.size, parts: [...before.parts, blob], more });
        } catch (failure) {
          if (failure.status !== 404) throw failure;
        }
      }
      for (const text of texts.values()) text.text = await new Blob(text.parts).text();
      const bottom = this.#atBottom();
      this.texts = texts;
      this.failure = null;
      if (bottom) this.updateComplete.then(() => this.#scroll());
    } catch (failure) {
      this.failure = failure.message;
      this.requestUpdate();
    } finally {
      this.reading = false;
      if (this.again) {
        this.again = false;
        this.#read(true);
      }
    }
  }

  #atBottom() {
    const area = this.querySelector('pre');
    return area && area.scrollHeight - area.scrollTop - area.clientHeight < 30;
  }

  #scroll() {
    const area = this.querySelector('pre');
    if (area) area.scrollTop = area.scrollHeight;
  }

  render() {
    const full = this.streams.filter(([name]) => this.texts.get(name)?.bytes);
    const [name, path] =
      this.streams.find(([stream]) => stream === this.shown) ?? full[0] ?? this.streams[0];
    const text = this.texts.get(name);
    return html`
      <div class="output">
        <div class="output-head">
          <div role="group" aria-label="Streams">
            ${this.streams.map(([stream]) => html`
              <button
                type="button" class="plain small" aria-pressed=${stream === name ? 'true' : 'false'}
                @click=${() => (this.shown = stream)}>
                ${stream} <span class="count">${size(this.texts.get(stream)?.bytes ?? 0)}${this.texts.get(stream)?.more ? '+' : ''}</span>
              </button>`)}
          </div>
          ${this.live ? html`<span class="status busy">live</span>` : nothing}
          ${text?.bytes
            ? html`<button type="button" class="plain small" @click=${() => attempt(() => download(path, `${name}.txt`), 'Saved')}>Save</button>`
            : nothing}
        </div>
        ${this.failure ? html`<p class="banner bad">${this.failure}</p>` : nothing}
        <pre tabindex="0" role="region" aria-label="Output ${name}">${text?.text ?? ''}</pre>
        ${text?.bytes ? nothing : html`<p class="calm">${this.live ? 'Nothing yet.' : 'Nothing was written.'}</p>`}
        ${text?.more ? html`<p class="calm">These are its first ${size(MAX_SHOWN)}. Save it to read the rest.</p>` : nothing}
      </div>
    `;
  }
}

define('millrace-output', Output);
