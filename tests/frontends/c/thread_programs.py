# ruff: noqa: E501
"""Pieces of C with OpenMP for the body of `PROGRAM`: right ones, and wrong ones with what is wrong, by hand."""

from __future__ import annotations

PROGRAM = """#include <shmem.h>
#include <stdio.h>
#include <omp.h>
#include <assert.h>
static int tp;
#pragma omp threadprivate(tp)
static int x; static int g; int x2[64];
static void helper(int i) { shmem_int_p(&g, i, 0); }
static void helper2(int i) { x2[i] = i; }
static int fib(int n) { int a, b; if (n < 2) return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b; }
static void worker(void) {
#pragma omp for
  for (int i = 0; i < 8; i++) g = i; }
static void worker2(void) {
#pragma omp parallel
{
#pragma omp for
  for (int i = 0; i < 8; i++) g = i; } }
int main(void) { shmem_init(); int me = shmem_my_pe();
BODY
  shmem_barrier_all(); printf("%d %d\\n", me, x); shmem_finalize(); return 0; }
"""

RACES = [
    ("s", "int s=0; int a[8]={1,2}; \n#pragma omp parallel for\nfor(int i=0;i<8;i++) s += a[i];\n x = s;"),
    (
        "t",
        "int t; int a[8]={1},b[8];\n#pragma omp parallel for\nfor(int i=0;i<8;i++){ t = a[i]*2; b[i] = t+1; } x=b[0];",
    ),
    (
        "j",
        "int i,j; int m[4][4];\n#pragma omp parallel for\nfor(i=0;i<4;i++) for(j=0;j<4;j++) m[i][j]=i+j;\n x=m[1][1];",
    ),
    ("a", "int a[8]={1};\n#pragma omp parallel for\nfor(int i=1;i<8;i++) a[i]=a[i-1]+1;\n x=a[7];"),
    ("a", "int a[9]={1};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) a[i]=a[i+1];\n x=a[7];"),
    ("a", "int a[8]={1};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) a[0]+=i;\n x=a[0];"),
    ("m", "int m=0; int a[8]={1,5};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) if(a[i]>m) m=a[i];\n x=m;"),
    ("n", "int n=0;\n#pragma omp parallel\n n++;\n x=n;"),
    ("n", "int n=0;\n#pragma omp parallel num_threads(4)\n { int k = omp_get_thread_num(); n = k; }\n x=n;"),
    (
        "c",
        "int c=0;\n#pragma omp parallel sections\n{\n#pragma omp section\n c=1;\n#pragma omp section\n c=2;\n}\n x=c;",
    ),
    (
        "c",
        "int c=0,d=0;\n#pragma omp parallel sections\n{\n#pragma omp section\n c=1;\n#pragma omp section\n d=c;\n}\n x=d;",
    ),
    ("c", "int c=0;\n#pragma omp parallel\n{ int l;\n#pragma omp master\n c=1;\n l=c; x2[omp_get_thread_num()]=l; }\n"),
    ("s", "int s=0; int a[8]={1};\n#pragma omp parallel\n{\n#pragma omp for\nfor(int i=0;i<8;i++) s+=a[i];\n}\n x=s;"),
    ("p", "struct {int u,v;} p={0,0};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) { p.u=i; }\n x=p.u;"),
    ("s", "int s=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++){ s+=i;\n#pragma omp critical\n s+=1; }\n x=s;"),
    (
        "s",
        "int s=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++){\n#pragma omp atomic\n s+=i;\n#pragma omp critical\n s+=1; }\n x=s;",
    ),
    ("h", "int h[4]={0};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) for(int k=0;k<4;k++) h[k]+=i;\n x=h[0];"),
    (
        "a",
        "int a[16]={1}; int n=4;\n#pragma omp parallel for\nfor(int i=1;i<4;i++) for(int k=0;k<n;k++) a[i*n+k]=a[(i-1)*n+k];\n x=a[7];",
    ),
    ("a", "int a[16]={1};\n#pragma omp parallel for\nfor(int i=14;i>=0;i--) a[i]=a[i+1];\n x=a[7];"),
    ("g", "\n#pragma omp parallel for\nfor(int i=0;i<8;i++) g=i;\n x=g;"),
    (
        "q",
        "int a[16]={1}; int *q=a;\n#pragma omp parallel for schedule(static,1)\nfor(int i=0;i<8;i+=2) q[i+4]=q[i];\n x=a[7];",
    ),
    (
        "m",
        "int m[8][8]={0};\n#pragma omp parallel for\nfor(int i=0;i<7;i++) for(int k=1;k<8;k++) m[i][k]=m[i+1][k];\n x=m[1][1];",
    ),
    ("y", "int y=0,b[8];\n#pragma omp parallel for\nfor(int i=0;i<8;i++){ if(i==0) y=5; b[i]=y; }\n x=b[1];"),
    (
        "s",
        "int s=0;\n#pragma omp parallel\n{\n#pragma omp for\nfor(int i=0;i<8;i++){\n#pragma omp atomic\n s+=i;\n}\n s++;\n}\n x=s;",
    ),
    (
        "pt",
        "struct {int a[8];} pt, *q=&pt;\n#pragma omp parallel for\nfor(int i=1;i<8;i++) pt.a[i]=pt.a[i-1];\n x=pt.a[1];",
    ),
    (
        "q",
        "struct {int a[8];} pt={{0}}, *q=&pt;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) q->a[3]=i;\n x=pt.a[1];",
    ),
    ("g", "worker2(); x=g;"),
    ("n", "int n=0;\n#pragma omp parallel default(none) shared(n)\n{ for(int k=0;k<3;k++) n+=k; }\n x=n;"),
    ("l", "int l=0; \n#pragma omp parallel for\nfor(int i=0;i<4;i++) for(l=0;l<3;l++) x2[i]+=l;\n"),
    (
        "a",
        "int a[8]={0}; \n#pragma omp parallel\n{\n#pragma omp for schedule(dynamic)\nfor(int i=2;i<8;++i) a[i]+=a[i-2];\n}\n x=a[3];",
    ),
    ("cnt", "static int cnt;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) cnt++;\n x=cnt;"),
    (
        "v",
        "int n=7,v=0;\n#pragma omp parallel\n{ if (n > 5) v = 1; \n#pragma omp barrier\n int l = v; (void)l; }\n x=v;",
    ),
    ("v", "int v=0;\n#pragma omp parallel\n#pragma omp for\nfor(int i=0;i<8;i++) { int q = i; v = q; }\n x=v;"),
    ("a", "int a[12]={0};\n#pragma omp parallel for\nfor(int i=0;i<8;i+=2) a[i]=a[i+2];\n x=a[0];"),
    ("a", "int a[8]={0};\n#pragma omp parallel for\nfor(int i=0;i!=7;i++) a[7-i]=a[7-i-1];\n x=a[0];"),
    (
        "a",
        "int lo=0,hi=8,a[9]={0};\n#pragma omp parallel for shared(a,lo,hi) default(none)\nfor(int i=lo;i<hi;i++) a[i]=a[i+1];\n x=a[7];",
    ),
    ("s", "struct {int c[2];} s={{0}};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) s.c[1]++;\n x=s.c[1];"),
    (
        "f",
        "int f=0;\n#pragma omp parallel sections\n{\n#pragma omp section\n { f=1; }\n#pragma omp section\n { f=f+1; } }\n x=f;",
    ),
    (
        "t",
        "int t[4];\n#pragma omp parallel for\nfor(int i=0;i<8;i++) { for(int k=0;k<4;k++) t[k]=i; x2[i]=t[3]; }\n x=x2[7];",
    ),
    (
        "m",
        "int m=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) { if (i>m)\n#pragma omp critical\n { m=i; } }\n x=m;",
    ),
    ("w", "int v=({ int w=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) w+=i;\n w; });\n x=v;"),
    ("c", "int c=0;\n#pragma omp parallel\n {\n#pragma omp single nowait\n c=1;\n int l=c; (void)l; }\n x=c;"),
]
"""The variable that threads race for."""

COMMUNICATING = [
    "\n#pragma omp parallel for\nfor(int i=0;i<2;i++) shmem_int_put(&g,&x,1,i);\n",
    "\n#pragma omp parallel\n{\n#pragma omp single\n shmem_barrier_all();\n}\n",
    "\n#pragma omp parallel for\nfor(int i=0;i<2;i++) helper(i);\n",
    "\n#pragma omp parallel\n{\n#pragma omp master\n shmem_quiet();\n}\n",
    "\n#pragma omp parallel sections\n{\n#pragma omp section\n x=shmem_int_g(&g,0);\n}\n",
]
"""The call that other threads run beside."""

ERRORS = [
    ("leaves the region", "int n=0;\n#pragma omp parallel for\nfor(int i=0;i<4;i++) { if (i==2) break; x2[i]=i; }\n"),
    ("leaves the region", "\n#pragma omp parallel\n{ if (me) return 1; }\n"),
    ("target", "\n#pragma omp target map(x)\n x=1;\n"),
    ("has no clause", "\n#pragma omp parallel for privat(x)\nfor(int i=0;i<4;i++) x2[i]=i;\n"),
    ("does not take", "\n#pragma omp parallel nowait\n x2[0]=0;\n"),
    ("stands a loop", "\n#pragma omp parallel for\nwhile(x) x--;\n"),
    ("not all threads", "\n#pragma omp parallel\n{\n#pragma omp single\n{\n#pragma omp barrier\n x=1; }\n}\n"),
    ("unknown variable", "\n#pragma omp parallel private(yy)\n x2[0]=0;\n"),
    ("before no statement", "int z=0; if(z){\n z=1;\n#pragma omp parallel\n}\n x2[0]=0;\n"),
    ("depend", "\n#pragma omp task depend(in:x)\n x2[0]=0;\n"),
    ("no directive", "\n#pragma omp paralel for\nfor(int i=0;i<4;i++) x2[i]=i;\n"),
    (
        "collapse",
        "int i,j;\n#pragma omp parallel for collapse(2)\nfor(i=0;i<4;i++) { x2[i]=0; for(j=0;j<4;j++) x2[i]=j; }\n",
    ),
    ("reduction", "int i;\n#pragma omp parallel for reduction(mine:x)\nfor(i=0;i<4;i++) x2[i]=0;\n"),
    ("parenthes", "\n#pragma omp parallel private(x\n x2[0]=0;\n"),
]
"""A part of the message."""

RIGHT = [
    "int a[8];\n#pragma omp parallel for\nfor(int i=0;i<8;i++) a[i]=i;\n x=a[3];",
    "int s=0;int a[8]={1,2,3};\n#pragma omp parallel for reduction(+:s)\nfor(int i=0;i<8;i++) s+=a[i];\n x=s;",
    "int t,b[8];\n#pragma omp parallel for private(t)\nfor(int i=0;i<8;i++){t=i*2;b[i]=t;}\n x=b[3];",
    "int i,j,m[4][4];\n#pragma omp parallel for private(j)\nfor(i=0;i<4;i++) for(j=0;j<4;j++) m[i][j]=i+j;\n x=m[1][2];",
    "int i,j,m[4][4];\n#pragma omp parallel for collapse(2)\nfor(i=0;i<4;i++) for(j=0;j<4;j++) m[i][j]=i+j;\n x=m[1][2];",
    "int s=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++){\n#pragma omp atomic\n s+=i;\n}\n x=s;",
    "int s=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++){\n#pragma omp critical(sum)\n { s+=i; }\n}\n x=s;",
    "int a[16]={1};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) a[i+8]=a[i];\n x=a[8];",
    "int a[16]={1};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) a[2*i]=a[2*i+1];\n x=a[8];",
    "int a[2]={1};\n#pragma omp parallel for\nfor(int i=1;i<2;i++) a[i]=a[i-1];\n x=a[1];",
    "int n=0;\n#pragma omp parallel\n{ if (omp_get_thread_num()==0) n=omp_get_num_threads(); }\n x=n;",
    "int n=0;\n#pragma omp parallel\n{\n#pragma omp single\n n=1;\n int l=n; x2[omp_get_thread_num()]=l; }\n x=n;",
    "int n=0;\n#pragma omp parallel\n{\n#pragma omp master\n n=1;\n#pragma omp barrier\n int l=n; x2[omp_get_thread_num()]=l; }\n x=n;",
    "int c=0,d=0;\n#pragma omp parallel sections\n{\n#pragma omp section\n c=1;\n#pragma omp section\n d=2;\n}\n x=c+d;",
    "int last=0;\n#pragma omp parallel for lastprivate(last)\nfor(int i=0;i<8;i++) last=i;\n x=last;",
    "int k=5,b[8];\n#pragma omp parallel for firstprivate(k)\nfor(int i=0;i<8;i++){ k+=i; b[i]=k; }\n x=b[0];",
    "int r=0;\n#pragma omp parallel\n#pragma omp single\n r=fib(5);\n x=r;",
    "int s=0;\n#pragma omp parallel num_threads(1)\n s+=1;\n x=s;",
    "int s=0;\n#pragma omp parallel for if(0)\nfor(int i=0;i<8;i++) s+=i;\n x=s;",
    "int s=0;omp_lock_t l; omp_init_lock(&l);\n#pragma omp parallel for\nfor(int i=0;i<8;i++){ omp_set_lock(&l); s+=i; omp_unset_lock(&l);}\n omp_destroy_lock(&l); x=s;",
    "int f=-1;int a[8]={0,0,0,7};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) if(a[i]==7) f=i;\n x=f;",
    "int a[8]={3},mx=0;\n#pragma omp parallel for reduction(max:mx)\nfor(int i=0;i<8;i++) if(a[i]>mx) mx=a[i];\n x=mx;",
    "int s=0;\n#pragma omp simd reduction(+:s)\nfor(int i=0;i<8;i++) s+=i;\n x=s;",
    "worker(); x=g;",
    "int idx[4]={3,1,2,0},b[4];\n#pragma omp parallel for\nfor(int i=0;i<4;i++) b[idx[i]]=i;\n x=b[0];",
    "int s=0;\n#pragma omp parallel\n{ int l=0;\n#pragma omp for nowait\nfor(int i=0;i<8;i++) l+=i;\n#pragma omp critical\n s+=l;\n}\n x=s;",
    "int i,t=0;\n#pragma omp parallel for ordered\nfor(i=0;i<4;i++){\n#pragma omp ordered\n t=t*2+i;\n}\n x=t;",
    "int a[8],n=8;\n#pragma omp parallel\n{ int id=omp_get_thread_num(),nt=omp_get_num_threads(); for(int k=id;k<n;k+=nt) a[k]=k; }\n x=a[1];",
    "\n#pragma omp parallel\n tp++;\n x=tp;",
    "int m[4][4];\nfor(int k=0;k<4;k++) {\n#pragma omp parallel for\nfor(int i=0;i<4;i++) m[k][i]=k*i;\n}\n x=m[1][1];assert(x==1);",
    "int t=3;\n#pragma omp parallel private(t)\n t=omp_get_thread_num();\n x=t;assert(x==3);",
    "int k=5,b[8];\n#pragma omp parallel for firstprivate(k)\nfor(int i=0;i<8;i++){ b[i]=k; }\n x=b[7]+k;assert(x==10);",
    "int i=77;\n#pragma omp parallel for\nfor(i=0;i<8;i++) x2[i]=i;\n x=i;assert(x==77&&x2[7]==7);",
    "int l=1;\n#pragma omp parallel for lastprivate(l)\nfor(int i=0;i<8;i++) l=2*i;\n x=l;assert(x==14);",
    "int s=10;\n#pragma omp parallel reduction(+:s)\n s=5;\n x=s;assert(x==15);",
    "int s=3; double d=2;\n#pragma omp parallel for reduction(*:s,d)\nfor(int i=1;i<4;i++) {s*=i; d*=i;}\n x=s;assert(x==18&&d==12.0);",
    "x=fib(6);assert(x==8);",
    "int v=1;\n#pragma omp parallel\n#pragma omp single\n{ int w=2;\n#pragma omp task\n w=9;\n#pragma omp taskwait\n v=w; }\n x=v;assert(x==2);",
    "int a[4]={1,2,3,4};\n#pragma omp parallel firstprivate(a)\n{ a[0]+=5; x2[omp_get_thread_num()]=a[0]; }\n x=a[0];assert(x==1&&x2[0]==6);",
    "int f=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++){ if(i%2) continue; if(i==6) f=1; }\n x=f;",
    "int a[8];int *p=a;\n#pragma omp parallel for\nfor(int i=0;i<8;i++){ int *q=p+i; *q=i; }\n x=a[2];assert(x==2);",
    "int a[8],b[8]={1};\n#pragma omp parallel\n{\n#pragma omp for\nfor(int i=0;i<8;i++) a[i]=i;\n#pragma omp for\nfor(int i=1;i<8;i++) b[i]=a[i-1];\n}\n x=b[2];assert(x==1);",
    "int v=0;\n#pragma omp parallel\n{\n#pragma omp critical\n { int o=v; o++; v=o; }\n}\n x=v;assert(x==1);",
    "int v=0,o;\n#pragma omp parallel private(o)\n{\n#pragma omp atomic capture\n o=v++;\n x2[o]=o; }\n x=v;assert(x==1);",
    "int n=1; omp_set_num_threads(1);\n#pragma omp parallel\n n++;\n x=n;assert(x==2);",
    "int a[16]={0};\n#pragma omp parallel for schedule(static,8)\nfor(int i=1;i<8;i++) a[i]=a[i-1]+1;\n x=a[7];assert(x==7);",
    "int a[64]={0},n=8;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) for(int j=0;j<n;j++) a[i*n+j]=i;\n x=a[63];assert(x==7);",
    "int data=0,flag=0;\n#pragma omp parallel sections\n{\n#pragma omp section\n{ data=1;\n#pragma omp flush\n#pragma omp atomic write\n flag=1; }\n#pragma omp section\n{ int f=0; while(!f) {\n#pragma omp atomic read\n f=flag;\n }\n x=data; }\n}\n",
    "int s=0,i;\n#pragma omp parallel for simd reduction(+:s) aligned(x2) safelen(4)\nfor(i=0;i<8;i++) s+=i;\n x=s;assert(x==28);",
    "int s=0;\n#pragma omp parallel\n#pragma omp single\n#pragma omp taskloop grainsize(2)\nfor(int i=0;i<8;i++) x2[i]=i;\n x=x2[5];assert(x==5);",
    "int ok=1;\n#pragma omp parallel for reduction(&&:ok)\nfor(int i=0;i<8;i++) ok=ok&&i<9;\n x=ok;assert(x==1);",
    "int h[4]={0};\n#pragma omp parallel for reduction(+:h[:4])\nfor(int i=0;i<8;i++) h[i%4]+=i;\n x=h[1];assert(x==6);",
    '_Pragma("omp parallel for") for(int i=0;i<8;i++) x2[i]=i; x=x2[2]; assert(x==2);',
    "struct {int u,v;} p={1,2};\n#pragma omp parallel sections\n{\n p.u=3;\n#pragma omp section\n p.v=4;\n}\n x=p.u+p.v;assert(x==7);",
    "\n#pragma omp master\n shmem_int_p(&g,1,0);\n#pragma omp critical\n shmem_quiet();\n",
    "\n#define N 4\n#define CL private(t)\nint t;\n#pragma omp parallel for num_threads(N) CL\nfor(int i=0;i<N;i++) { t=i; x2[i]=t; }\n x=x2[3];assert(x==3);",
    "int nt=1,s=0;\n#pragma omp parallel for num_threads(nt)\nfor(int i=0;i<8;i++) s+=i;\n x=s;",
    "int s=0;\n#pragma omp parallel\n{ int l=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) l+=i;\n\n#pragma omp critical\n s+=l; }\n x=s;",
    "int s=0;\n#pragma omp parallel\n#pragma omp single\n#pragma omp taskloop num_tasks(1)\nfor(int i=0;i<8;i++) s+=i;\n x=s;",
    "int *p=x2;\n#pragma omp parallel for\nfor(int *q=x2;q<x2+8;q++) *q=1;\n x=p[0];",
    "int a[8][8];\n#pragma omp parallel for\nfor(int i=0;i<8;i++) { a[i][0]=1; for(int k=1;k<8;k++) a[i][k]=a[i][k-1]+1; }\n x=a[1][1]; assert(x==2);",
    "int n=3,v=0;\n#pragma omp parallel\n{ if (n > 5) v = 1; \n#pragma omp barrier\n int l = v; (void)l; }\n x=v;",
    "int v=0,i;\n#pragma omp parallel for\nfor(i=7;i>0;--i) { if (i > 6) v++; }\n x=v;",
    "int a[8]={0};\n#pragma omp parallel for\nfor(int i=0;i<8;i+=2) a[i]=a[i+1];\n x=a[0];",
    "int a[8]={0};\n#pragma omp parallel for\nfor(int i=0;i<4;i++) a[7-i]=i;\n x=a[7];",
    "int lo=0,hi=1,a[9]={0};\n#pragma omp parallel for\nfor(int i=lo;i<hi;i++) a[i]=a[i+1];\n x=a[7];",
    "struct {int c;} s[8]={{0}};\n#pragma omp parallel for\nfor(int i=0;i<8;i++) s[i].c++;\n x=s[1].c;assert(x==1);",
    "int f=0,h=0;\n#pragma omp parallel sections reduction(+:f)\n{\n#pragma omp section\n { f+=1; }\n#pragma omp section\n { f+=2; } }\n x=f+h;assert(x==3);",
    "int f=0;\n#pragma omp parallel\n{\n#pragma omp sections\n{\n#pragma omp section\n f=1;}\n int l=f; (void)l; }\n x=f;",
    "int t[4];\n#pragma omp parallel for private(t)\nfor(int i=0;i<8;i++) { for(int k=0;k<4;k++) t[k]=i; x2[i]=t[3]; }\n x=x2[7];assert(x==7);",
    "int m=0;\n#pragma omp parallel for\nfor(int i=0;i<8;i++) {\n#pragma omp critical\n if (i>m) m=i; }\n x=m;assert(x==7);",
    "int i,j,s=0;\n#pragma omp parallel for private(j) reduction(+:s)\nfor(i=0;i<3;i++) for(j=0;j<3;j++) s+=i*j;\n x=s;assert(x==9);",
    "int k=0;\n#pragma omp parallel for lastprivate(k)\nfor(int i=0;i<8;i++) { k=i*2; x2[i]=k; }\n x=k;assert(x==14);",
    "int v=({ int w=0;\n#pragma omp parallel for reduction(+:w)\nfor(int i=0;i<8;i++) w+=i;\n w; });\n x=v;assert(x==28);",
    "int c=0;\n#pragma omp parallel\n for(int k=0;k<3;k++) {\n#pragma omp single\n c+=k;\n#pragma omp barrier\n }\n x=c;assert(x==3);",
    "int s=10;\n#pragma omp parallel reduction(max:s)\n s=5;\n x=s;assert(x==10);",
    "int s=3;\n#pragma omp parallel reduction(min:s)\n s=5;\n x=s;assert(x==3);",
    "double s=3;\n#pragma omp parallel reduction(max:s)\n s=5;\n x=s;assert(x==5);",
    "int s=0;\n#pragma omp parallel reduction(&&:s)\n s=1;\n x=s;assert(x==0);",
    "int s=4;\n#pragma omp parallel reduction(||:s)\n s=0;\n x=s;assert(x==1);",
]
