package io.millrace.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SessionCookiesTest {
  @Test
  void a_session_that_came_by_https_counts_where_it_is_passed_on_without() {
    assertThat(SessionCookies.passedOn("other=1; __Host-millrace-session=good"))
        .isEqualTo("other=1; __Host-millrace-session=good; millrace-session=good");
    assertThat(SessionCookies.passedOn("millrace-session=planted; __Host-millrace-session=good"))
        .isEqualTo("millrace-session=good; __Host-millrace-session=good");
    assertThat(SessionCookies.passedOn(" millrace-session=plain;;x ; =y"))
        .isEqualTo("millrace-session=plain");
  }
}
