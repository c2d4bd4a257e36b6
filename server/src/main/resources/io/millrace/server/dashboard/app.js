// The shell: navigation, search, sign-in, notices, and the page that the address names.

import { LitElement, html, nothing } from 'lit';
import { beginSession, endSession, get, hasCredentials, keepCredentials, keepSession, onSignInNeeded, query } from './http.js';
import { can, define, session } from './view.js';

const PAGES = [
  { section: '', items: [['', 'Overview', 'overview']] },
  {
    section: 'Work',
    items: [
      ['queues', 'Queues', 'queues'],
      ['jobs', 'Jobs', 'jobs'],
      ['graph', 'Graph', 'graph'],
      ['schedules', 'Schedules', 'schedules'],
      ['limits', 'Limits', 'limits'],
      ['bulk', 'Bulk actions', 'bulk'],
      ['archive', 'Archive', 'archive'],
    ],
  },
  {
    section: 'Machines',
    items: [
      ['nodes', 'Execution nodes', 'nodes'],
      ['workers', 'Workers', 'workers'],
      ['cluster', 'Cluster', 'cluster'],
    ],
  },
  {
    section: 'System',
    items: [
      ['store', 'Store', 'store'],
      ['audit', 'Audit log', 'audit', 'operator'],
      ['access', 'Access', 'access', 'admin'],
    ],
  },
];

// The module of each page, and the element that shows it: the first part of the path, and whether an item follows.
const VIEWS = {
  '': ['overview', 'millrace-overview'],
  queues: ['queues', 'millrace-queues', 'millrace-queue'],
  tasks: ['queues', 'millrace-tasks', 'millrace-task'],
  nodes: ['machines', 'millrace-nodes'],
  jobs: ['jobs', 'millrace-jobs', 'millrace-job'],
  types: ['jobs', 'millrace-types'],
  batches: ['jobs', 'millrace-batches', 'millrace-batch'],
  workers: ['machines', 'millrace-workers', 'millrace-worker'],
  graph: ['graph', 'millrace-graph', 'millrace-node'],
  schedules: ['schedules', 'millrace-schedules', 'millrace-schedule'],
  limits: ['limits', 'millrace-limits'],
  bulk: ['bulk', 'millrace-bulk-actions', 'millrace-bulk-action'],
  'new-bulk': ['bulk', 'millrace-new-bulk-action'],
  archive: ['archive', 'millrace-archive', 'millrace-archived'],
  cluster: ['machines', 'millrace-cluster'],
  store: ['store', 'millrace-store', 'millrace-group'],
  audit: ['system', 'millrace-audit'],
  access: ['system', 'millrace-access', 'millrace-principal'],
  search: ['search', 'millrace-search'],
};

function routeOf(hash) {
  const [path, search = ''] = hash.replace(/^#?\/?/, '').split('?');
  return {
    path: path.split('/').map(decodeURIComponent),
    parameters: Object.fromEntries(new URLSearchParams(search)),
  };
}

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

class App extends LitElement {
  static properties = {
    route: { state: true },
    view: { state: true },
    notices: { state: true },
    signIn: { state: true },
    menu: { state: true },
    ready: { state: true },
  };

  constructor() {
    super();
    this.notices = [];
    this.theme = localStorage.getItem('millrace.theme');
    this.#showTheme();
  }

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    systemIsDark.addEventListener('change', () => this.#showTheme());
    addEventListener('hashchange', () => this.#navigate());
    addEventListener('millrace-notice', event => this.#notice(event.detail));
    addEventListener('keydown', event => {
      if (event.key === '/' && !/INPUT|TEXTAREA|SELECT/.test(event.target.tagName)) {
        event.preventDefault();
        this.querySelector('#search').focus();
      }
    });
    onSignInNeeded(() => (this.signIn = { failure: hasCredentials() ? 'These credentials are not accepted any more.' : null }));
    this.#begin();
  }

  async #begin() {
    try {
      const me = await get('access/me');
      keepSession(me.csrf);
      this.provider = me.sign_in.oidc;
      session.principal = me.principal;
      session.roles = new Set(me.roles);
      session.reach = me.reach;
      if (me.roles.length === 0) {
        this.signIn = { failure: hasCredentials() ? 'These credentials are not accepted.' : null };
        keepCredentials(null);
        return;
      }
      this.signIn = null;
      this.ready = true;
      this.#navigate();
    } catch (failure) {
      if (failure.status === 401 || failure.status === 403) {
        keepCredentials(null);
        this.signIn = { failure: failure.message };
      } else {
        this.#notice({ message: failure.message, kind: 'bad' });
        setTimeout(() => this.#begin(), 2000);
      }
    }
  }

  async #navigate() {
    if (!this.ready) return;
    const { hash } = location;
    const route = routeOf(hash);
    const [module, list, item] = VIEWS[route.path[0]] ?? VIEWS[''];
    await import(`./${module}.js`);
    // The user may have gone on meanwhile, to a page that was there sooner.
    if (location.hash !== hash) return;
    const name = item && route.path.length > 1 ? item : list;
    if (this.view?.localName !== name || this.view.route.path.join('/') !== route.path.join('/')) {
      this.view = document.createElement(name);
      scrollTo(0, 0);
    }
    this.view.route = route;
    this.route = route;
    this.menu = false;
    const title = [...route.path].reverse().filter(Boolean).slice(0, 2).join(' · ');
    document.title = title ? `${title} · Millrace` : 'Millrace';
  }

  #notice(notice) {
    this.notices = [...this.notices.slice(-3), notice];
    setTimeout(() => this.#dismiss(notice), notice.kind === 'bad' || notice.undo ? 9000 : 4000);
  }

  #dismiss(notice) {
    this.notices = this.notices.filter(other => other !== notice);
  }

  #undo(notice) {
    this.#dismiss(notice);
    notice.undo().then(() => this.view?.reload?.());
  }

  /** The theme that the user has chosen here, or else that of the system. */
  #showTheme() {
    document.documentElement.dataset.theme = this.theme ?? (systemIsDark.matches ? 'dark' : 'light');
    dispatchEvent(new Event('millrace-theme'));
  }

  #switchTheme() {
    this.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem('millrace.theme', this.theme);
    this.#showTheme();
  }

  #search(event) {
    event.preventDefault();
    const text = event.target.elements.text.value.trim();
    if (text) location.hash = `#/search?text=${encodeURIComponent(text)}`;
  }

  async #submitSignIn(event) {
    event.preventDefault();
    const { user, secret } = event.target.elements;
    const bytes = new TextEncoder().encode(`${user.value}:${secret.value}`);
    keepCredentials(user.value ? `Basic ${btoa(String.fromCharCode(...bytes))}` : `Bearer ${secret.value}`);
    try {
      await beginSession();
    } catch (failure) {
      this.signIn = { failure: failure.status === 401 ? 'These credentials are not accepted.' : failure.message };
      return;
    }
    this.#begin();
  }

  async #signOut() {
    try {
      await endSession();
    } catch (failure) {
      this.#notice({ message: failure.message, kind: 'bad' });
      return;
    }
    location.reload();
  }

  #signInForm() {
    return html`
      <main class="sign-in">
        <article>
          <form @submit=${this.#submitSignIn}>
            <h1><img src=${new URL('./icon.svg', import.meta.url)} alt="" width="32" height="32"> Millrace</h1>
            <p>This server asks who you are.</p>
            ${this.signIn.failure ? html`<p class="banner bad" role="alert">${this.signIn.failure}</p>` : nothing}
            ${this.provider
              ? html`
                <a role="button" href=${`access/sign-in${query({ return: `/${location.hash}` })}`}>Sign in with ${this.provider}</a>
                <p class="calm">or</p>`
              : nothing}
            <label>User <input name="user" autocomplete="username" placeholder="empty for an API key or the server's token"></label>
            <label>Password, API key or token <input name="secret" type="password" autocomplete="current-password" required></label>
            <button type="submit">Sign in</button>
          </form>
        </article>
      </main>
    `;
  }

  render() {
    if (this.signIn) return this.#signInForm();
    const here = this.route?.path[0] ?? '';
    const current = { tasks: 'queues', types: 'jobs', batches: 'jobs', 'new-bulk': 'bulk' }[here] ?? here;
    return html`
      <a class="skip" href="#content" @click=${event => (event.preventDefault(), this.querySelector('main').focus())}>Skip to the content</a>
      <header class="top">
        <button
          type="button" class="plain menu-button" aria-label="Menu" aria-expanded=${this.menu ? 'true' : 'false'}
          @click=${() => (this.menu = !this.menu)}>☰</button>
        <a class="brand" href="#/"><img src=${new URL('./icon.svg', import.meta.url)} alt="" width="26" height="26"> Millrace</a>
        <form role="search" @submit=${this.#search}>
          <input id="search" name="text" type="search" placeholder="Find any id, key, name or command  ( / )" aria-label="Search">
        </form>
        <button type="button" class="plain" aria-label="Light or dark" title="Light or dark" @click=${this.#switchTheme}>◐</button>
        ${session.principal
          ? html`<span class="who" title=${[...session.roles].join(', ')}>${session.principal}</span>`
          : nothing}
        ${hasCredentials()
          ? html`<button type="button" class="plain small" @click=${this.#signOut}>Sign out</button>`
          : nothing}
      </header>
      <div class="frame">
        <nav class="side ${this.menu ? 'open' : ''}" aria-label="Parts of the dashboard">
          ${PAGES.map(({ section, items }) => html`
            ${section ? html`<h2>${section}</h2>` : nothing}
            <ul>
              ${items.filter(([, , , role]) => !role || can(role)).map(([path, text]) => html`
                <li><a href="#/${path}" aria-current=${current === path ? 'page' : 'false'}>${text}</a></li>
              `)}
            </ul>
          `)}
        </nav>
        <main id="content" tabindex="-1">${this.view ?? nothing}</main>
      </div>
      <div class="notices" role="status" aria-live="polite">
        ${this.notices.map(notice => html`
          <p class="banner ${notice.kind}">
            ${notice.message}
            ${notice.undo ? html`<button type="button" class="plain small" @click=${() => this.#undo(notice)}>Undo</button>` : nothing}
          </p>`)}
      </div>
    `;
  }
}

define('millrace-app', App);
