# proctor's server with compilers, for programs in other languages than Python:
#   docker build -f deploy/compilers.Dockerfile -t proctor-serve-compilers deploy
# SERVER is an image made of deploy/Dockerfile upon Debian, LANGUAGES are Debian's packages. Others
# that proctor knows are in docs/reference/languages.md.
ARG SERVER=proctor-serve

FROM ${SERVER}
ARG LANGUAGES="g++ default-jdk-headless golang-go nodejs pypy3 rustc"
USER 0:0
# Unquoted: several words. The image's own Python stays the first on PATH.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends ${LANGUAGES} \
    && rm -rf /var/lib/apt/lists/*
USER 10001:10001
